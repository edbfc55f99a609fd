// How one weight comes about, a step at a time, with the numbers of its row.

const mostTerms = 256; // of a vector, in a table
const mostKeys = 40;

/// A table; `current` is the row of it to point out, `foot` one more below a line.
function table(caption, headings, rows, { current = -1, foot = null } = {}) {
  const cells = ([first, ...others]) => [element("th", { scope: "row" }, first), ...others.map((text) => element("td", {}, text))];
  const body = rows.map((texts, i) => element("tr", { class: i === current ? "current" : "" }, ...cells(texts)));
  const head = element("tr", {}, ...headings.map((heading) => element("th", { scope: "col" }, heading)));
  return element("div", { class: "table", tabindex: "0", role: "region", "aria-label": caption },
    element("table", {}, element("caption", { text: caption }), element("thead", {}, head), element("tbody", {}, ...body),
      foot ? element("tfoot", {}, element("tr", {}, ...cells(foot))) : ""));
}

const formula = (...parts) => element("p", { class: "formula" }, ...parts);
const say = (...parts) => element("p", {}, ...parts);
const strong = (text) => element("strong", { text });
const sub = (...parts) => element("sub", {}, ...parts);
const shapes = (text) => element("p", { class: "shapes", text });

/// The keys of a row that are shown: all, or of many the strongest for which `use` says so, and the chosen one; in the order of the sentence.
function keysToShow({ head, row, column }, most, use = () => true) {
  if (result.S <= most) {
    return result.columns.map((_, i) => i);
  }
  const others = strongest(rowOf(result.weights, head, row), most).filter((key) => key !== column && use(key));
  return [column, ...others.slice(0, most - 1)].sort((one, other) => one - other);
}

/// A table with a row for each key.
function keyTable(cell, caption, headings, texts, foot) {
  const places = keysToShow(cell, mostKeys);
  const note = places.length < result.S ? ` (${places.length} of ${result.S} words: those with the largest weights)` : "";
  return table(caption + note, ["word", ...headings], places.map((i) => [wordAt(result.columns, i), ...texts(i)]),
    { current: places.indexOf(cell.column), foot });
}

/// Whether `run`, which has --show, made the result: its config draws, that of a tensor alone does not.
const isOfRun = () => result.config.draws?.length > 0 || layers.length > 0;

const absent = (what, show) => [say(...unbroken(`This page holds no ${what}.` + (isOfRun() ? ` A page made with ${show} among --show shows this step's numbers.` : "")))];

const queryWord = (cell) => wordAt(result.rows, cell.row);
const keyWord = (cell) => wordAt(result.columns, cell.column);
/// "q" and "k", each with its word below the line.
const namedVectors = (cell) => letters().map((letter, i) => () => [letter, sub(i === 0 ? queryWord(cell) : keyWord(cell))]);
/// "(0.1, 0.2, 0.3, …)"
const startOf = (vector) => `(${[...vector.subarray(0, 3)].map(number).join(", ")}${vector.length > 3 ? ", …" : ""})`;
/// ", the first 256 of 300"
const firstOf = (vector) => (vector.length > mostTerms ? `, the first ${mostTerms} of ${vector.length}` : "");

// ---- the steps: what each says of a cell -----------------------------------------------------------------------------

/// Scores that are more than a product of query and key; the page holds their values and not all that they are made of.
const scoreFunctions = {
  cosine: ["The score is the cosine of the angle between both vectors: how alike they point, whatever their lengths.",
    (q, k) => [...q(), " · ", ...k(), " / (|", ...q(), "| |", ...k(), "|)"]],
  general: ["A matrix of its own turns the key before it is compared with the query (Luong's general score).",
    (q, k) => [...q(), " · W", sub("a"), " ", ...k()]],
  additive: ["A small network of its own compares query and key (Bahdanau's additive score).",
    (q, k) => ["v", sub("a"), " · tanh(W", sub("a"), " ", ...q(), " + U", sub("a"), " ", ...k(), ")"]],
};

function functionStep(cell) {
  const [about, formulaOf] = scoreFunctions[scoreFunction()];
  const { scores } = cell;
  return [
    say(about),
    formula(...formulaOf(...namedVectors(cell)), " = ", strong(number(scores[cell.column]))),
    keyTable(cell, "Scores of the row", ["score"], (i) => [number(scores[i])]),
  ];
}

function compareStep(cell) {
  const value = cell.scores?.[cell.column];
  const [own, other] = vectors(cell.head, cell.row) ?? [];
  const [a, b] = namedVectors(cell);
  if (!own) {
    return value === undefined ? absent("queries and keys", "queries,keys") : [formula(...a(), " · ", ...b(), " = ", strong(number(value))), ...absent("vectors of both words", "queries,keys")];
  }
  const vector = other(cell.column);
  const [roleOfRow, roleOfColumn] = isSwapped() ? ["key", "query"] : ["query", "key"];
  let sum = 0;
  const rows = Array.from(own.subarray(0, mostTerms), (x, i) => {
    sum += x * vector[i];
    return [String(i), number(x), number(vector[i]), number(x * vector[i]), number(sum)];
  });
  const { H, T, S } = result;
  return [
    say(`The ${roleOfRow} of `, queryWord(cell), ` and the ${roleOfColumn} of `, keyWord(cell), " are multiplied number by number, and the products summed. The more alike they point, the larger the score."),
    formula(...a(), " · ", ...b(), " = Σ ", ...letters().flatMap((letter) => [letter, sub("i")]), `${addedTo(cell.head, cell.row, cell.column)} = `, strong(number(value))),
    shapes(isSwapped() ? `K ${shape(S, own.length)} · Qᵀ ${shape(own.length, S)} → scores ${shape(T, S)}, in each of ${H} heads`
      : `Q ${shape(H, T, own.length)} · Kᵀ ${shape(result.keys.shape[0], own.length, S)} → scores ${shape(H, T, S)}`),
    table(`The products${firstOf(own)}`, ["i", element("span", {}, ...a()), element("span", {}, ...b()), "product", "sum so far"], rows),
  ];
}

/// Whether the scores are divided by √d_k, with a temperature of a what-if or without.
function dividesByRoot() {
  const scale = change === null ? result.attention.scale : scaleOfChange(resultOf(0), { ...change, temperature: 1 });
  return scale === undefined && scoreFunction() === "scaled_dot" && result.keys !== null;
}

function scaleStep(cell) {
  const { unscaled: scores, scaled } = cell;
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
  const { scaled, capped } = cell;
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
  const { before, masked: after } = cell;
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
  const before = cell.before?.[cell.column];
  const after = cell.masked[cell.column];
  const made = strong(score(after));
  if (before === undefined) {
    return [made];
  }
  const distance = Math.abs(cell.column - result.positions[cell.row]);
  return isAlibi() && !result.attention.mask && after !== -Infinity ? [`${number(before)} − ${number(slopeOf(cell.head))} × ${distance} = `, made]
    : after === before ? [made, ", which the mask leaves"] : [`${number(before)} → `, made];
}

function maskStep(cell) {
  const { before, masked: after } = cell;
  return [
    say("Here ", maskReason(cell), ".", hidesSome(cell.head) ? " What must not be seen gets the score −∞, whose exponential is 0; the other words share its weight, each in proportion to its own." : ""),
    formula(keyWord(cell), ": ", ...maskedScore(cell), after[cell.column] === -Infinity ? ", so its weight is exactly 0" : ""),
    keyTable(cell, "Scores of the row", ["before", "after"], (i) => [before ? number(before[i]) : "–", score(after[i])]),
  ];
}

/// What the scores are called that go into the softmax: as the column of the step before.
const lastScore = () => Object.keys(kinds[stepOf(softmaxStep) - 1].columns)[0];

function softmaxStep(cell) {
  const { last: scores, weights } = cell;
  const w = weights[cell.column];
  const why = say("The exponential makes every score positive and large ones much larger; divided by their sum, they are shares that add up to 1.");
  if (!scores) {
    return [why, formula("weight of ", keyWord(cell), " = ", strong(number(w))), keyTable(cell, "Weights of the row", ["weight"], (i) => [number(weights[i])])];
  }
  const { largest, powers, sum } = cell.softmax;
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
  const { weights, kept } = cell;
  const [w, d] = [weights[cell.column], kept[cell.column]];
  return [
    say(`While a network learns, some of its weights are left out at random, here each with probability ${number(p)}; the others are divided by 1 − p, so that their sum stays the same on average.`),
    d === 0 ? formula(keyWord(cell), w === 0 ? ": " : " is left out: ", strong(number(d))) : formula(`${number(w)} / ${number(1 - p)} = `, strong(number(d))),
    keyTable(cell, "Weights of the row", ["weight", "after dropout"], (i) => [number(weights[i]), number(kept[i])]),
  ];
}

function mixStep(cell) {
  const { values, H, T, S } = result;
  const { kept, context } = cell;
  const width = Math.min(context.length, 32);
  const valueOf = (i) => rowOf(values, keyHead(cell.head, values), i);
  const numbers = (vector) => Array.from(vector.subarray(0, width), number);
  const own = valueOf(cell.column);
  const w = kept[cell.column];
  return [
    say("Each word hands on its value, as much of it as its weight says. Their sum is the context of ", queryWord(cell), "; this is what ", keyWord(cell), " adds to it."),
    formula(strong(number(w)), " × v", sub(keyWord(cell)), ` = ${number(w)} × ${startOf(own)} = `, strong(startOf(own.map((x) => x * w)))),
    formula("context", sub(queryWord(cell)), " = Σ weight × v = ", strong(startOf(context))),
    shapes(`weights ${shape(H, T, S)} · V ${shape(values.shape[0], S, context.length)} → context ${shape(H, T, context.length)}`),
    keyTable(cell, `The values, and their sum${width < context.length ? `; the first ${width} of ${context.length} numbers` : ""}`,
      ["weight", ...Array.from({ length: width }, (_, i) => element("span", {}, "v", sub(String(i))))], (i) => [number(kept[i]), ...numbers(valueOf(i))],
      ["context", "", ...numbers(context)]),
  ];
}

// ---- the list of steps -----------------------------------------------------------------------------------------------

/// What a formula shows: "_" before what stands below the line, "^" above it.
const typeset = (text) => text.split(/([_^].)/).map((part) => (part[0] === "_" ? sub(part[1]) : part[0] === "^" ? element("sup", { text: part[1] }) : part));

/// "/ √d_k", or "·" and the factor.
function scaleSymbol() {
  const { temperature = 1 } = change ?? {};
  return dividesByRoot() ? { sign: " / ", symbol: `√d_k${temperature === 1 ? "" : ` · ${temperature}`}` }
    : { sign: " · ", symbol: result.attention.scale === "none" ? "1" : number(scaleFactor()) };
}

/// Every step of this layer: its name; what it says of a cell (`make`), which needs some of the cell's numbers, or else tells what the
/// page lacks; which of these numbers are columns of the workbench, by their headings; and its symbol in the formula: a function of what
/// stands before it, or behind that and a sign.
function stepKinds() {
  const [a, b] = isSwapped() ? ["K", "Q"] : ["Q", "K"];
  const own = `${scoreFunction()} score`;
  const scoring = multiplies() ? { name: `${a}·${b}ᵀ`, symbol: `${a}${b}^T`, make: compareStep }
    : { name: own, symbol: own, make: functionStep, needs: ["scores"], lacks: ["scores", "scores"] };
  const [mask, masked] = addsByDistance() ? ["bias", "biased"] : ["mask", "masked"];
  const masking = { name: mask, sign: " + ", symbol: mask, make: maskStep, needs: ["masked"], lacks: ["masked scores", "masked_scores"], columns: { [masked]: "masked" } };
  const scales = scoreFunction() === "scaled_dot" || result.attention.scale !== undefined;
  const noShares = ["dropped weights", "dropped_weights"];
  return [
    { name: "x", symbol: "x", make: vectorStep, before: true, there: hasQueryProjection() },
    { name: "W_q·x", symbol: "W_qx", make: queryStep, before: true, there: hasQueryProjection() },
    { ...scoring, sign: "", columns: { score: "scores" } },
    { ...masking, there: hasMask() && masksFirst() },
    { name: "scale", ...scaleSymbol(), make: scaleStep, needs: ["unscaled", "scaled"], lacks: ["scores", "queries,keys"], columns: { scaled: "scaled" }, there: scales },
    { name: "softcap", symbol: "cap", make: capStep, needs: ["scaled", "capped"], lacks: ["scores", "queries,keys"], columns: { capped: "capped" },
      there: result.attention.softcap !== undefined },
    { ...masking, there: hasMask() && !masksFirst() },
    { name: "softmax", symbol: "softmax", make: softmaxStep, columns: { exp: "powers", weight: "weights" } },
    { name: "dropout", symbol: "dropout", make: dropoutStep, needs: ["kept"], lacks: noShares, columns: { kept: "kept" }, there: result.attention.dropout !== undefined },
    { name: "weights·V", sign: " · ", symbol: "V", make: mixStep, needs: ["context"], lacks: result.values ? noShares : ["values", "values"] },
    { name: "W_o", sign: " · ", symbol: "W_o", make: outputStep, there: outputProjection(0) !== null },
  ].filter(({ there = true }) => there);
}
let kinds = [];
const stepOf = (make) => kinds.findIndex((kind) => kind.make === make);

/// Whether there is anything to take steps with.
const hasSteps = () => ["queries", "keys", "values", "scores", "scaled", "capped", "masked"].some((name) => result[name]);

/// A cell of the picture with all numbers of its row, each null where the page does not hold what it takes.
function cellAt({ head, row, column }) {
  const stages = stagesOfRow(head, row);
  const softmax = stages.last && softmaxTerms(stages.last);
  const kept = sharesOfRow(head, row);
  return {
    head, row, column, softmax, kept, ...stages,
    unscaled: (masksFirst() && stages.masked) || stages.scores,
    powers: softmax && softmax.largest > -Infinity ? softmax.powers : null,
    weights: rowOf(result.weights, head, row),
    context: result.values && kept && contextOfRow(head, row),
  };
}

/// The steps in words and tables.
class Steps {
  constructor() {
    listenToChoice(find("step-list"), (step) => update({ step }));
    find("previous").addEventListener("click", () => update({ step: state.step - 1 }));
    find("next").addEventListener("click", () => update({ step: state.step + 1 }));
  }

  /// The steps of this layer.
  fill() {
    kinds = stepKinds();
    find("step-list").replaceChildren(...kinds.map(({ name }, i) => element("button", { type: "button", role: "tab", id: `step-${i}`, "aria-controls": "step" },
      element("span", { class: "step-number", text: String(i + 1) }), element("span", {}, ...typeset(name)))));
  }

  show(cell, step) {
    check(find("step-list"), step, "aria-selected");
    find("step").setAttribute("aria-labelledby", `step-${step}`);
    find("previous").disabled = step === 0;
    find("next").disabled = step === kinds.length - 1;
    const { make, needs = [], lacks } = kinds[step];
    const parts = needs.every((name) => cell[name]) ? make(cell) : absent(...lacks);
    const isTable = (part) => part.classList.contains("table");
    find("step").replaceChildren(element("div", { class: "words-of-step" }, ...parts.filter((part) => !isTable(part))), ...parts.filter(isTable));
    const { head, row, column } = cell;
    find("steps-title").replaceChildren("How ", queryWord(cell), " comes to give ", keyWord(cell), " ", element("span", { class: "number", text: number(weight(head, row, column)) }),
      isChanged(head, row, column) ? element("span", { class: "hint", text: ` (was ${within(resultOf(0), () => number(weight(head, row, column)))})` }) : "");
  }
}
