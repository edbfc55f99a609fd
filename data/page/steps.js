// How one weight comes about, a step at a time, with the numbers of its row.

const mostTerms = 256; // of a vector, in a table
const mostKeys = 40;

/// A table; `current` is the row of it to point out, `foot` one more below a line.
function table(caption, headings, rows, { current = -1, foot = null } = {}) {
  const cells = (name, texts) => texts.map((text, i) =>
    typeof text === "string" ? element(i === 0 ? "th" : name, { text, scope: i === 0 ? "row" : null }) : element(i === 0 ? "th" : name, { scope: i === 0 ? "row" : null }, text));
  const body = rows.map((texts, i) => element("tr", { class: i === current ? "current" : "" }, ...cells("td", texts)));
  const head = element("tr", {}, ...headings.map((heading) => element("th", { scope: "col" }, heading)));
  return element("div", { class: "table", tabindex: "0", role: "region", "aria-label": caption },
    element("table", {}, element("caption", { text: caption }), element("thead", {}, head), element("tbody", {}, ...body),
      foot ? element("tfoot", {}, element("tr", {}, ...cells("td", foot))) : ""));
}

const formula = (...parts) => element("p", { class: "formula" }, ...parts);
const say = (...parts) => element("p", {}, ...parts);
const strong = (text) => element("strong", { text });
const sub = (...parts) => element("sub", {}, ...parts);
const shapes = (text) => element("p", { class: "shapes", text });

/// The keys of a row for a table: all of them, or of many the largest, with the selected one, in the order of the sentence.
function keysToShow(values, column) {
  if (result.S <= mostKeys) {
    return { places: result.columns.map((_, i) => i), note: "" };
  }
  const places = new Set(strongest(values, mostKeys - 1)).add(column);
  return { places: [...places].sort((a, b) => a - b), note: ` (${places.size} of ${result.S} words: those with the largest weights)` };
}

/// A table with a row for each key.
function keyTable(cell, caption, headings, texts, foot) {
  const { places, note } = keysToShow(rowOf(result.weights, cell.head, cell.row), cell.column);
  return table(caption + note, ["word", ...headings], places.map((i) => [wordAt(result.columns, i), ...texts(i)]),
    { current: places.indexOf(cell.column), foot });
}

/// Whether `run`, which has --show, made the result: its config draws, that of a tensor alone does not.
const isOfRun = () => result.config.draws?.length > 0 || layers.length > 0;

const absent = (what, show) => [say(...unbroken(`This page holds no ${what}.` + (isOfRun() ? ` A page made with ${show} among --show shows this step's numbers.` : "")))];

// ---- the steps -------------------------------------------------------------------------------------------------------

/// "q·k / (|q|·|k|)" and its like, of the two words.
function functionOf(cell) {
  const [a, b] = result.attention.scores === "KQ" ? ["k", "q"] : ["q", "k"];
  const own = () => [a, sub(wordAt(result.rows, cell.row))];
  const other = () => [b, sub(wordAt(result.columns, cell.column))];
  return {
    cosine: () => [...own(), " · ", ...other(), " / (|", ...own(), "| |", ...other(), "|)"],
    general: () => [...own(), " · W", sub("a"), " ", ...other()],
    additive: () => ["v", sub("a"), " · tanh(W", sub("a"), " ", ...own(), " + U", sub("a"), " ", ...other(), ")"],
  }[scoreFunction()]();
}

const aboutFunction = {
  cosine: "The score is the cosine of the angle between both vectors: how alike they point, whatever their lengths.",
  general: "A matrix of its own turns the key before it is compared with the query (Luong's general score).",
  additive: "A small network of its own compares query and key (Bahdanau's additive score).",
};

/// A score that is more than a product of query and key; the page holds its value and not all that it is made of.
function functionStep(cell) {
  const value = cell.stages.scores?.[cell.column];
  if (value === undefined) {
    return absent("scores", "scores");
  }
  return [
    say(aboutFunction[scoreFunction()]),
    formula(...functionOf(cell), " = ", strong(number(value))),
    keyTable(cell, "Scores of the row", ["score"], (i) => [number(cell.stages.scores[i])]),
  ];
}

function compareStep(cell) {
  const pair = vectors(cell.head, cell.row, cell.column);
  const value = cell.stages.scores?.[cell.column];
  const [a, b] = result.attention.scores === "KQ" ? ["k", "q"] : ["q", "k"];
  const named = [a, sub(wordAt(result.rows, cell.row)), " · ", b, sub(wordAt(result.columns, cell.column))];
  if (!pair) {
    return value === undefined ? absent("queries and keys", "queries,keys") : [formula(...named, " = ", strong(number(value))), ...absent("vectors of both words", "queries,keys")];
  }
  const roles = a === "q" ? ["query", "key"] : ["key", "query"];
  let sum = 0;
  const rows = Array.from(pair[0].subarray(0, mostTerms), (x, i) => {
    sum += x * pair[1][i];
    return [String(i), number(x), number(pair[1][i]), number(x * pair[1][i]), number(sum)];
  });
  const { H, T, S } = result;
  return [
    say(`The ${roles[0]} of `, wordAt(result.rows, cell.row), ` and the ${roles[1]} of `, wordAt(result.columns, cell.column), " are multiplied number by number, and the products summed. The more alike they point, the larger the score."),
    formula(...named, " = Σ ", a, sub("i"), b, sub("i"), `${addedTo(cell.head, cell.row, cell.column)} = `, strong(number(value))),
    shapes(result.attention.scores === "KQ" ? `K ${shape(S, pair[0].length)} · Qᵀ ${shape(pair[0].length, S)} → scores ${shape(T, S)}, in each of ${H} heads`
      : `Q ${shape(H, T, pair[0].length)} · Kᵀ ${shape(result.keys.shape[0], pair[0].length, S)} → scores ${shape(H, T, S)}`),
    table(`The products${pair[0].length > mostTerms ? `, the first ${mostTerms} of ${pair[0].length}` : ""}`,
      ["i", element("span", {}, a, sub(wordAt(result.rows, cell.row))), element("span", {}, b, sub(wordAt(result.columns, cell.column))), "product", "sum so far"], rows),
  ];
}

/// Whether the scores are divided by √d_k, with a temperature of a what-if or without.
function dividesByRoot() {
  const saved = resultOf(0).attention.scale;
  const scale = change === null ? result.attention.scale : !change.scale ? "none" : saved === "none" ? undefined : saved;
  return scale === undefined && scoreFunction() === "scaled_dot" && result.keys !== null;
}

function scaleStep(cell) {
  const scaled = cell.stages.scaled;
  const scores = masksFirst() ? cell.stages.masked ?? cell.stages.scores : cell.stages.scores;
  if (!scores || !scaled) {
    return absent("scores", "queries,keys");
  }
  const factor = scaleFactor();
  if (Number.isNaN(factor)) {
    return absent("scale", "keys");
  }
  const temperature = change?.temperature ?? 1;
  const root = dividesByRoot();
  const own = root ? `1/√${result.keys.shape[2]}` : number(factor * temperature);
  return [
    root ? say("Sums of many products grow with their number, and large differences give nearly all weight to one word. Divided by √d", sub("k"), ", the others keep a share.")
      : say(result.attention.scale === "none" ? "The scores are not scaled: the larger their differences, the nearer the largest weight is to 1." : "Every score is multiplied by the same factor: the larger it is, the nearer the largest weight is to 1."),
    ...(temperature === 1 ? [] : [say(`A temperature ${temperature < 1 ? "below 1 gives the strongest words more" : "above 1 makes the weights more alike"}: every score is divided by it.`)]),
    formula(score(scores[cell.column]), ` × ${own}`, temperature === 1 ? "" : ` / ${temperature}`, root || temperature !== 1 ? ` = ${score(scores[cell.column])} × ${number(factor)}` : "", " = ", strong(score(scaled[cell.column]))),
    keyTable(cell, "Scores of the row", ["score", "scaled"], (i) => [score(scores[i]), score(scaled[i])]),
  ];
}

function capStep(cell) {
  const { scaled, capped } = cell.stages;
  if (!scaled || !capped) {
    return absent("scores", "queries,keys");
  }
  const cap = number(result.attention.softcap);
  return [
    say("A soft ceiling: no score leaves ±", strong(cap), ", small ones hardly change."),
    formula(`${cap} · tanh(${number(scaled[cell.column])} / ${cap}) = `, strong(number(capped[cell.column]))),
    keyTable(cell, "Scores of the row", ["scaled", "capped"], (i) => [number(scaled[i]), number(capped[i])]),
  ];
}

const byDistance = "the model adds a number to each score, by how far apart the two words are";
/// Whether a model does; then nothing else is in its masked scores.
const addsByDistance = () => layers.length > 0 && Boolean(result.masked) && !result.attention.causal && !result.attention.window;

function maskReason(cell) {
  const { causal, window, mask } = result.attention;
  const { before, masked: after } = cell.stages;
  const adds = before && !isAlibi() && after.some((value, i) => value !== -Infinity && value !== before[i]);
  const reasons = [];
  causal && reasons.push("no word sees a later one");
  window && reasons.push(`a word sees ${window.map((reach) => (reach < 0 ? "all" : reach)).join(" back and ")} ahead`);
  layers.length > 0 && reasons.length > 0 && adds && reasons.push(byDistance);
  mask && reasons.push(adds ? "the numbers of a mask from a file are added to the scores" : "a mask from a file is applied");
  isAlibi() && reasons.push(`each score loses the distance of its two words times the slope of this head, ${number(slopeOf(cell.head))} (ALiBi)`);
  const nameless = addsByDistance() ? byDistance : "a mask is applied";
  return reasons.length ? reasons.join("; ") : nameless;
}

/// "6.6934 → 6.6934"; where ALiBi alone changes the score, by how much.
function maskedScore(cell) {
  const before = cell.stages.before?.[cell.column];
  const after = cell.stages.masked[cell.column];
  const made = strong(score(after));
  if (before === undefined) {
    return [made];
  }
  const distance = Math.abs(cell.column - result.positions[cell.row]);
  return isAlibi() && !result.attention.mask && after !== -Infinity ? [`${number(before)} − ${number(slopeOf(cell.head))} × ${distance} = `, made]
    : after === before ? [made, ", which the mask leaves"] : [`${number(before)} → `, made];
}

function maskStep(cell) {
  const { before, masked: after } = cell.stages;
  if (!after) {
    return absent("masked scores", "masked_scores");
  }
  return [
    say("Here ", maskReason(cell), ".", hidesSome(cell.head) ? " What must not be seen gets the score −∞, whose exponential is 0; the other words share its weight, each in proportion to its own." : ""),
    formula(wordAt(result.columns, cell.column), ": ", ...maskedScore(cell), after[cell.column] === -Infinity ? ", so its weight is exactly 0" : ""),
    keyTable(cell, "Scores of the row", ["before", "after"], (i) => [before ? number(before[i]) : "–", score(after[i])]),
  ];
}

/// What the scores are called that go into the softmax.
const lastScore = () => (hasMask() && !masksFirst() ? (addsByDistance() ? "biased" : "masked") : result.attention.softcap !== undefined ? "capped" : stepOf(scaleStep) >= 0 ? "scaled" : "score");

function softmaxStep(cell) {
  const scores = cell.stages.last;
  const weights = rowOf(result.weights, cell.head, cell.row);
  const w = weights[cell.column];
  const why = say("The exponential makes every score positive and large ones much larger; divided by their sum, they are shares that add up to 1.");
  if (!scores) {
    return [why, formula("weight of ", wordAt(result.columns, cell.column), " = ", strong(number(w))), keyTable(cell, "Weights of the row", ["weight"], (i) => [number(weights[i])])];
  }
  const { largest, powers, sum } = softmaxTerms(scores);
  if (largest === -Infinity) {
    return [say("Every word of this row is masked: there is nothing to attend to, and all weights are 0.")];
  }
  const s = scores[cell.column];
  return [
    why,
    s === -Infinity ? formula("exp(−∞) = 0, so the weight is ", strong(number(w)))
      : formula(`exp(${number(s)} − ${largest < 0 ? `(${number(largest)})` : number(largest)}) / ${number(sum)} = ${number(powers[cell.column])} / ${number(sum)} = `, strong(number(w))),
    say("The row's largest score, ", number(largest), ", is taken off first; that changes no share and keeps the exponentials from overflowing."),
    keyTable(cell, "From scores to weights", [lastScore(), "exp(score − max)", "weight"], (i) => [score(scores[i]), number(powers[i]), number(weights[i])],
      ["sum", "", number(sum), number(weights.reduce((total, x) => total + x, 0))]),
  ];
}

function dropoutStep(cell) {
  const { p } = result.attention.dropout;
  const left = sharesOfRow(cell.head, cell.row);
  if (!left) {
    return absent("dropped weights", "dropped_weights");
  }
  const weights = rowOf(result.weights, cell.head, cell.row);
  const [w, d] = [weights[cell.column], left[cell.column]];
  return [
    say(`While a network learns, some of its weights are left out at random, here each with probability ${number(p)}; the others are divided by 1 − p, so that their sum stays the same on average.`),
    d === 0 ? formula(wordAt(result.columns, cell.column), w === 0 ? ": " : " is left out: ", strong(number(d))) : formula(`${number(w)} / ${number(1 - p)} = `, strong(number(d))),
    keyTable(cell, "Weights of the row", ["weight", "after dropout"], (i) => [number(weights[i]), number(left[i])]),
  ];
}

function mixStep(cell) {
  const { values } = result;
  const weights = sharesOfRow(cell.head, cell.row);
  if (!values || !weights) {
    return values ? absent("dropped weights", "dropped_weights") : absent("values", "values");
  }
  const context = contextOfRow(cell.head, cell.row);
  const width = Math.min(context.length, 32);
  const valueOf = (i) => rowOf(values, keyHead(cell.head, values), i);
  const start = (vector) => [...vector.subarray(0, 3)].map(number).join(", ") + (vector.length > 3 ? ", …" : "");
  const numbers = (vector) => Array.from(vector.subarray(0, width), number);
  const own = valueOf(cell.column);
  const w = weights[cell.column];
  const share = own.map((x) => x * w);
  const { H, T, S } = result;
  return [
    say("Each word hands on its value, as much of it as its weight says. Their sum is the context of ", wordAt(result.rows, cell.row), "; this is what ", wordAt(result.columns, cell.column), " adds to it."),
    formula(strong(number(w)), " × v", sub(wordAt(result.columns, cell.column)), ` = ${number(w)} × (${start(own)}) = `, strong(`(${start(share)})`)),
    formula("context", sub(wordAt(result.rows, cell.row)), " = Σ weight × v = ", strong(`(${start(context)})`)),
    shapes(`weights ${shape(H, T, S)} · V ${shape(values.shape[0], S, context.length)} → context ${shape(H, T, context.length)}`),
    keyTable(cell, `The values, and their sum${width < context.length ? `; the first ${width} of ${context.length} numbers` : ""}`,
      ["weight", ...Array.from({ length: width }, (_, i) => element("span", {}, "v", sub(String(i))))], (i) => [number(weights[i]), ...numbers(valueOf(i))],
      ["context", "", ...numbers(context)]),
  ];
}

const scoreStep = () => multiplies() ? { name: result.attention.scores === "KQ" ? "K·Qᵀ" : "Q·Kᵀ", make: compareStep, there: true }
  : { name: `${scoreFunction()} score`, make: functionStep, there: true };
const stepKinds = () => [
  { name: "x", make: vectorStep, there: hasQueryProjection() },
  { name: "W_q·x", make: queryStep, there: hasQueryProjection() },
  scoreStep(),
  { name: "mask", make: maskStep, there: hasMask() && masksFirst() },
  { name: "scale", make: scaleStep, there: scoreFunction() === "scaled_dot" || result.attention.scale !== undefined },
  { name: "softcap", make: capStep, there: result.attention.softcap !== undefined },
  { name: addsByDistance() ? "bias" : "mask", make: maskStep, there: hasMask() && !masksFirst() },
  { name: "softmax", make: softmaxStep, there: true },
  { name: "dropout", make: dropoutStep, there: result.attention.dropout !== undefined },
  { name: "weights·V", make: mixStep, there: true },
  { name: "W_o", make: outputStep, there: hasOutputProjection() },
].filter((kind) => kind.there);
let kinds = [];
/// "W_q·x" with its index below the line.
const nameParts = (name) => name.split(/_(.)/).map((part, i) => (i % 2 ? sub(part) : part));
const stepOf = (make) => kinds.findIndex((kind) => kind.make === make);

/// Whether there is anything to take steps with.
const hasSteps = () => ["queries", "keys", "values", "scores", "scaled", "capped", "masked"].some((name) => result[name]);

class Steps {
  constructor(onStep) {
    this.onStep = onStep;
    listenToArrows(find("step-list"), () => this.tabs, onStep);
    find("previous").addEventListener("click", () => onStep(this.step - 1));
    find("next").addEventListener("click", () => onStep(this.step + 1));
  }

  /// The steps of this layer.
  fill() {
    kinds = stepKinds();
    this.tabs = kinds.map((kind, i) => element("button", { type: "button", role: "tab", id: `step-${i}`, "aria-controls": "step" },
      element("span", { class: "step-number", text: String(i + 1) }), element("span", {}, ...nameParts(kind.name))));
    this.tabs.forEach((tab, i) => tab.addEventListener("click", () => this.onStep(i)));
    find("step-list").replaceChildren(...this.tabs);
  }

  show(head, row, column, step) {
    this.step = step;
    check(this.tabs, step, "aria-selected");
    find("step").setAttribute("aria-labelledby", `step-${step}`);
    find("previous").disabled = step === 0;
    find("next").disabled = step === kinds.length - 1;
    const cell = { head, row, column, from: result.rows[row], to: result.columns[column], stages: stagesOfRow(head, row) };
    const parts = kinds[step].make(cell);
    const isTable = (part) => part.classList.contains("table");
    find("step").replaceChildren(element("div", { class: "words-of-step" }, ...parts.filter((part) => !isTable(part))), ...parts.filter(isTable));
    find("steps-title").replaceChildren("How ", wordAt(result.rows, cell.row), " comes to give ", wordAt(result.columns, cell.column), " ", element("span", { class: "number", text: number(weight(head, row, column)) }),
      isChanged(head, row, column) ? element("span", { class: "hint", text: ` (was ${within(resultOf(0), () => number(weight(head, row, column)))})` }) : "");
  }
}
