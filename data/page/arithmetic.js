// The stages of one row. The result's own numbers where it holds them; otherwise computed as the program defines them: products
// summed in index order, rounded to the type of the arithmetic once (`round`) or after every step (`step`).

/// The place in keys or values of what this head reads. Of chosen heads there are only those key/value heads that they read.
function keyHead(head, array) {
  const { heads, chosenHeads, allHeads, config } = result;
  const group = allHeads / (chosenHeads ? config.dims?.kv_heads ?? allHeads : array.shape[0]);
  const groups = [...new Set(heads.map((number) => Math.floor(number / group)))];
  return groups.indexOf(Math.floor(heads[head] / group));
}

const scoreFunction = () => result.attention.score ?? "scaled_dot";

/// Whether a score is the product of two vectors that the page holds, and nothing else.
const multiplies = () => ["scaled_dot", "dot"].includes(scoreFunction());

/// One article multiplies K·Qᵀ: there the row's word brings its key.
const isSwapped = () => result.attention.scores === "KQ";
const letters = () => (isSwapped() ? ["k", "q"] : ["q", "k"]);

/// The vector of a row, and what gives that of each column: their product is the score. Null where the page does not hold them.
function vectors(head, row) {
  const { queries, keys, chosen } = result;
  if (!queries || !keys || !multiplies() || (isSwapped() && chosen)) {
    return null;
  }
  const place = keyHead(head, keys);
  return isSwapped() ? [rowOf(keys, place, row), (column) => rowOf(queries, head, column)] : [rowOf(queries, head, row), (column) => rowOf(keys, place, column)];
}

function dot(a, b) {
  const { round, step } = result;
  let sum = 0;
  for (let i = 0; i < a.length; ++i) {
    sum = step(sum + step(a[i] * b[i]));
  }
  return round(sum);
}

function scaleFactor() {
  const { scale } = result.attention;
  if (scale === "none" || (scale === undefined && scoreFunction() !== "scaled_dot")) {
    return 1;
  }
  return scale ?? 1 / Math.sqrt(result.keys ? result.keys.shape[2] : NaN);
}

/// The score times the factor; step by step 1/√d_k is a division by √d_k.
function scaledScore(score, factor) {
  const { round, byStep, attention, keys } = result;
  return byStep && attention.scale === undefined && scoreFunction() === "scaled_dot" ? round(score / round(Math.sqrt(keys.shape[2]))) : round(score * factor);
}

const isAlibi = () => result.attention.positions?.kind === "alibi";

const hasMask = () => {
  const { causal, window, mask } = result.attention;
  return Boolean(result.masked || causal || window || mask || isAlibi() || result.hidden.size > 0 || looksCausal());
};

/// ALiBi's slope: 2^(−8h/n), h = 1 … n, of n = 2^k heads; further heads have every other one of twice as many.
function slopeOf(head) {
  const n = 1 << (31 - Math.clz32(result.allHeads));
  const number = result.heads[head];
  return number < n ? 2 ** ((-8 * (number + 1)) / n) : 2 ** ((-4 * (2 * (number - n) + 1)) / n);
}

/// Whether the config alone lets this query see this key; the layer's own key is seen by all. `closed`: by a mask from a file.
function sees(head, row, column) {
  const { causal, window } = result.attention;
  const distance = column - result.positions[row];
  const extra = column >= result.wordsOfKeys;
  const [left, right] = window ?? [-1, -1];
  const late = (causal || looksCausal()) && distance > 0;
  const shut = result.hidden.has(column) || (result.closed && result.closed[(head * result.T + row) * result.S + column]);
  return extra || !(late || (left >= 0 && distance < -left) || (right >= 0 && distance > right) || shut);
}

/// What ALiBi leaves of a score.
const nearer = (head, row, column, score) => (isAlibi() ? result.round(score - result.round(slopeOf(head) * Math.abs(result.positions[row] - column))) : score);

function scoresOfRow(head, row) {
  if (result.scores) {
    return rowOf(result.scores, head, row);
  }
  const [own, other] = vectors(head, row) ?? [];
  return own ? Float64Array.from({ length: result.S }, (_, column) => dot(own, other(column))) : null;
}

const masksFirst = () => result.attention.mask_at === "scores";

/// scores → scaled → capped → masked of a row, each (S) or null where the result does not hold what it takes; `masked` comes before
/// `scaled` where the config says so. `last` are those that go into the softmax.
function stagesOfRow(head, row) {
  const { round, step, attention } = result;
  const own = (array) => array && rowOf(array, head, row);
  const derived = (array, from, f) => own(array) ?? (from && from.map((value, column) => f(value, column)));
  const scores = scoresOfRow(head, row);
  const factor = scaleFactor();
  const hide = (from) => {
    const bySight = !result.changed && (attention.mask || isAlibi()) ? null : from; // of a file nothing more is known
    return hasMask() ? derived(result.masked, bySight, (value, column) => (sees(head, row, column) ? nearer(head, row, column, value) : -Infinity)) : from;
  };
  const hidden = masksFirst() ? hide(scores) : scores;
  const scaled = derived(result.scaled, Number.isNaN(factor) ? null : hidden, (value) => scaledScore(value, factor));
  if (masksFirst()) {
    return { scores, scaled, capped: scaled, masked: hasMask() ? hidden : null, before: scores, last: scaled };
  }
  const cap = attention.softcap;
  const capped = cap === undefined ? scaled : derived(result.capped, scaled, (value) => round(cap * step(tanh(step(value / cap)))));
  const after = hide(capped);
  return { scores, scaled, capped, masked: after, before: capped, last: after };
}

/// exp(s − max) of a row and their sum. Scores of ∞, which overflowed, share the row among themselves.
function softmaxTerms(scores) {
  const { step } = result;
  const largest = scores.reduce((most, value) => (value > most ? value : most), -Infinity);
  const powers = Float64Array.from(scores, (value) => (largest === -Infinity ? 0 : value === largest ? 1 : largest === Infinity ? 0 : step(exp(step(value - largest)))));
  return { largest, powers, sum: powers.reduce((sum, power) => step(sum + power), 0) };
}

/// The shares of these; 0 where nothing is seen.
function softmax(scores) {
  const { step, round, byStep } = result;
  const { powers, sum } = softmaxTerms(scores);
  return powers.map((power) => (sum === 0 ? 0 : byStep ? step(power * step(1 / sum)) : round(power / sum)));
}

/// Whether no weight is possible there, as far as the result tells; a weight may also be too small for its type.
function isMasked(head, row, column) {
  if (result.masked) {
    return rowOf(result.masked, head, row)[column] === -Infinity;
  }
  return weight(head, row, column) === 0 && !sees(head, row, column);
}

/// How many keys a row sees.
const seenKeys = (head, row) => (hasMask() ? rowOf(result.weights, head, row).reduce((count, w, column) => count + (w === 0 && isMasked(head, row, column) ? 0 : 1), 0) : result.S);

/// Whether any cell of the head is masked: under ALiBi, or a mask of numbers, there may be none.
const hidesSome = ofHead((head) => hasMask() && weightsOf(head).some((w, place) => w === 0 && isMasked(head, Math.floor(place / result.S), place % result.S)));

/// What a row gives of each value: its weights, or what dropout has left of them; null where the page does not hold that.
function sharesOfRow(head, row) {
  if (result.dropped) {
    return rowOf(result.dropped, head, row);
  }
  return result.attention.dropout ? null : rowOf(result.weights, head, row);
}

/// The context of a row: its weights times the values.
function contextOfRow(head, row) {
  if (result.headContext) {
    return rowOf(result.headContext, head, row);
  }
  const { values, round, step } = result;
  const shares = sharesOfRow(head, row);
  const [, length, width] = values.shape;
  const start = keyHead(head, values) * length * width;
  return Float64Array.from({ length: width }, (_, i) => {
    let sum = 0;
    shares.forEach((w, column) => {
      sum = w === 0 ? sum : step(sum + step(w * values.values[start + column * width + i]));
    });
    return round(sum);
  });
}
