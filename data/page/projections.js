// Where query and output come from: a word's vector x, W_q·x and W_o, of results that hold them. The tables are shown only where they
// give the numbers of the result again: with rotary positions, say, a query is more than W_q·x.

/// Row `row` of an array (T, …).
const vectorOf = ({ shape, values }, row) => values.subarray(row * shape[1], (row + 1) * shape[1]);

/// The ways in which a matrix may lie: (…, out, in) or (…, in, out), of one head or of all of them stacked. Each gives the place of a number.
function layoutsOf({ shape }, out, inner, head) {
  const [rows, columns] = shape.slice(-2);
  const start = shape.length === 3 ? head * rows * columns : 0;
  const stack = shape.length === 3 ? 0 : head * out;
  return [
    columns === inner && rows >= stack + out ? (o, i) => start + (stack + o) * columns + i : null,
    rows === inner && columns >= stack + out ? (o, i) => start + i * columns + stack + o : null,
  ].filter(Boolean);
}

/// Number `o` of W·x + b: its terms, and their sum.
function projected(W, at, bias, x, o) {
  const { step, round } = result;
  let sum = 0;
  const terms = Array.from(x, (value, i) => {
    const w = W.values[at(o, i)];
    sum = step(sum + step(w * value));
    return [value, w, step(w * value), sum];
  });
  const value = round(sum);
  return { terms, bias, value: bias === undefined ? value : round(value + bias) };
}

/// How W makes `want` of x; null where it does not.
function projectionOf(W, bias, x, want, head) {
  if (!W || !x || !want) {
    return null;
  }
  const biasOf = (o) => bias?.values[bias.values.length === want.length ? o : head * want.length + o];
  for (const at of layoutsOf(W, want.length, x.length, head)) {
    if (want.every((value, o) => projected(W, at, biasOf(o), x, o).value === value)) {
      return (o) => projected(W, at, biasOf(o), x, o);
    }
  }
  return null;
}

/// The number of query and output that is explained: that of the strip which was clicked.
let component = 0;

const wordVector = (row) => result.x && vectorOf(result.x, result.positions[row]);
const queryProjection = (head, row) => result.queries && result.attention.scores !== "KQ" && !result.chosenHeads && projectionOf(result.parameters.W_q, result.parameters.b_q, wordVector(row), rowOf(result.queries, head, row), head);
const outputProjection = (row) => result.context && result.output && projectionOf(result.parameters.W_o, result.parameters.b_o, vectorOf(result.context, row), vectorOf(result.output, row), 0);

/// For the list of steps, which is the same for every row.
const hasQueryProjection = () => Boolean(queryProjection(0, 0) && queryProjection(0, result.T - 1)); // position 0 is not rotated
const hasOutputProjection = () => change === null && Boolean(outputProjection(0));

function vectorStep(cell) {
  const x = wordVector(cell.row);
  return [
    say("Every word has a vector x; all that follows is made of it. This is that of ", wordAt(result.rows, cell.row), "."),
    formula("x", sub(wordAt(result.rows, cell.row)), " = ", strong(`(${[...x.subarray(0, 3)].map(number).join(", ")}${x.length > 3 ? ", …" : ""})`)),
    shapes(`x ${shape(x.length)}`),
    table(`The vector${x.length > mostTerms ? `, the first ${mostTerms} of ${x.length} numbers` : ""}`, ["i", "x"], Array.from(x.subarray(0, mostTerms), (value, i) => [String(i), number(value)])),
  ];
}

/// One number of a product of matrix and vector, as a table.
function projectionStep(made, vector, [w, x, y], about, o) {
  const { terms, bias, value } = made(o);
  const rows = terms.slice(0, mostTerms).map(([from, w, product, sum], i) => [String(i), number(from), number(w), number(product), number(sum)]);
  return [
    about,
    formula(y, sub(String(o)), " = Σ W", sub(`${w}, ${o}, i`), " ", x, sub("i"), bias === undefined ? "" : ` + ${number(bias)}`, " = ", strong(number(value))),
    say("Click a number of a strip in the table of the row for the terms of that one."),
    table(`The terms of number ${o} of ${vector.length}`, ["i", x, element("span", {}, "W", sub(w)), "product", "sum so far"], rows),
  ];
}

function queryStep(cell) {
  const query = rowOf(result.queries, cell.head, cell.row);
  const about = say("The query of ", wordAt(result.rows, cell.row), " is its vector x times the matrix W", sub("q"), ": each number is a sum of products. Keys and values are made in the same way, with matrices of their own.");
  return projectionStep(queryProjection(cell.head, cell.row), query, ["q", "x", "q"], about, Math.min(component, query.length - 1));
}

function outputStep(cell) {
  const output = vectorOf(result.output, cell.row);
  const about = say("The contexts of all heads stand side by side; the matrix W", sub("o"), " makes the output of ", wordAt(result.rows, cell.row), " of them.");
  return projectionStep(outputProjection(cell.row), output, ["o", "context", "output"], about, Math.min(component, output.length - 1));
}
