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

/// How the matrix `name` makes `want` of x: a function of a number's place → its terms, and their sum. Null where it does not.
function projectionOf(name, x, want, head) {
  const { step, round, parameters } = result;
  const [W, b] = [parameters[`W_${name}`], parameters[`b_${name}`]];
  const projected = (at) => (o) => {
    let sum = 0;
    const terms = Array.from(x, (value, i) => {
      const w = W.values[at(o, i)];
      sum = step(sum + step(w * value));
      return [value, w, step(w * value), sum];
    });
    const bias = b?.values[b.values.length === want.length ? o : head * want.length + o];
    return { terms, bias, value: bias === undefined ? round(sum) : round(round(sum) + bias) };
  };
  const made = W && x && want ? layoutsOf(W, want.length, x.length, head).map(projected) : [];
  return made.find((numberAt) => want.every((value, o) => numberAt(o).value === value)) ?? null;
}

/// The number of query and output that is explained: that of the strip which was clicked.
let component = 0;

const wordVector = (row) => result.x && vectorOf(result.x, result.positions[row]);
const queryProjection = (head, row) => (result.queries && !isSwapped() && !result.chosenHeads ? projectionOf("q", wordVector(row), rowOf(result.queries, head, row), head) : null);
const outputProjection = (row) => (result.context && result.output ? projectionOf("o", vectorOf(result.context, row), vectorOf(result.output, row), 0) : null);

/// For the list of steps, which is the same for every row.
const hasQueryProjection = () => Boolean(queryProjection(0, 0) && queryProjection(0, result.T - 1)); // position 0 is not rotated

function vectorStep(cell) {
  const x = wordVector(cell.row);
  return [
    say("Every word has a vector x; all that follows is made of it. This is that of ", queryWord(cell), "."),
    formula("x", sub(queryWord(cell)), " = ", strong(startOf(x))),
    shapes(`x ${shape(x.length)}`),
    table(`The vector${x.length > mostTerms ? `${firstOf(x)} numbers` : ""}`, ["i", "x"], Array.from(x.subarray(0, mostTerms), (value, i) => [String(i), number(value)])),
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
  const about = say("The query of ", queryWord(cell), " is its vector x times the matrix W", sub("q"), ": each number is a sum of products. Keys and values are made in the same way, with matrices of their own.");
  return projectionStep(queryProjection(cell.head, cell.row), query, ["q", "x", "q"], about, Math.min(component, query.length - 1));
}

function outputStep(cell) {
  const output = vectorOf(result.output, cell.row);
  const about = say("The contexts of all heads stand side by side; the matrix W", sub("o"), " makes the output of ", queryWord(cell), " of them.");
  return projectionStep(outputProjection(cell.row), output, ["o", "context", "output"], about, Math.min(component, output.length - 1));
}
