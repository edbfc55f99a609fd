// The result that is shown, as flat arrays. Whatever --show left out is null here. Of a whole trained model it is that of the
// layer which is chosen; words, query rows and shapes are those of every layer.

let written, json;
/// The layers of a whole trained model, as the file has them.
let layers;
/// A result for each of them, or the only one, once it has been looked at.
let results;
let result;
/// Maps and lines of words that run right to left begin on the right.
let mirrored;
/// Whether they are weights at all.
let areWeights;

/// Takes the JSON of another result. What is derived from one is found from `result` when it is asked for.
function takeResult(text) {
  [written, json, results] = [text, JSON.parse(text), []];
  layers = json.layers ?? [];
  result = resultOf(0);
  mirrored = isRightToLeft(result.columns);
  areWeights = haveShares(result);
}

/// The JSON as the program writes it: in the page each "<" is \u003c.
const savedJson = () => written.replace(/\\(?:u003c|[^])/g, (escape) => (escape === "\\u003c" ? "<" : escape));

function resultOf(layer) {
  const { attention = {}, dims = {}, ...arrays } = layers[layer] ?? {};
  return (results[layer] ??= readResult(layers.length > 0 ? { ...json, ...arrays, config: { dtype: "float32", dims, attention } } : json));
}
/// What `compute` finds where `other` is the result that is looked at.
function within(other, compute) {
  const kept = result;
  result = other;
  try {
    return compute();
  } finally {
    result = kept;
  }
}
/// A nested array of numbers → {shape, values}; infinities and NaN are strings in JSON, a masked score is null.
function tensor(nested, Type) {
  if (nested === undefined) {
    return null;
  }
  const shape = [];
  for (let level = nested; Array.isArray(level); level = level[0]) {
    shape.push(level.length);
  }
  const values = new Type(shape.reduce((product, length) => product * length, 1));
  const special = { null: -Infinity, inf: Infinity, "-inf": -Infinity, nan: NaN };
  let next = 0;
  const put = (item) => {
    if (Array.isArray(item)) {
      item.forEach(put);
    } else {
      values[next++] = typeof item === "number" ? item : special[item];
    }
  };
  put(nested);
  return { shape, values };
}

function readResult(json) {
  const { config = {}, tokens } = json;
  const Type = config.dtype === "float32" ? Float32Array : Float64Array;
  const read = (name) => tensor(json[name], Type);
  const weights = read("weights");
  const [H, T, S] = weights.shape;
  const round = Type === Float32Array ? Math.fround : (x) => x;
  const byStep = Type === Float32Array && config.rounding === "step";
  const numbers = (count) => Array.from({ length: count }, (_, i) => String(i));
  const positions = json.query_positions ?? numbers(T).map(Number);
  const keys = [...(json.key_tokens ?? tokens ?? numbers(S))];
  const wordsOfKeys = keys.length;
  if (wordsOfKeys === S - 1) {
    keys.push("(bias)"); // a key of the layer's own
  }
  return {
    config,
    layer: json.layer,
    part: json.part,
    attention: config.attention ?? {},
    round,
    byStep,
    step: byStep ? round : (x) => x,
    H, T, S,
    heads: json.heads === "mean" ? ["mean"] : json.heads ?? numbers(H).map(Number),
    chosenHeads: json.heads !== undefined,
    allHeads: json.heads ? config.dims?.heads ?? 1 : H,
    hasWords: tokens !== undefined,
    cross: json.key_tokens !== undefined,
    tokens: tokens ?? numbers(T),
    rows: positions.map((position) => (tokens ? tokens[position] : String(position))),
    columns: keys,
    wordsOfKeys,
    positions,
    chosen: json.query_positions !== undefined,
    weights,
    queries: read("queries"),
    keys: read("keys"),
    values: read("values"),
    scores: read("scores"),
    scaled: read("scaled_scores"),
    capped: read("capped_scores"),
    masked: read("masked_scores"),
    dropped: read("dropped_weights"),
    headContext: read("head_context"),
    entropies: read("entropy"),
    x: read("embeddings"),
    context: read("context"),
    output: read("output"),
    parameters: Object.fromEntries(["W_q", "b_q", "W_o", "b_o"].map((name) => [name, tensor(json.parameters?.[name], Type)])),
    warnings: json.warnings ?? [],
    hidden: new Set((config.attention?.hide ?? []).flatMap((wanted) => placesOf(String(wanted), keys.slice(0, wordsOfKeys)))),
  };
}

/// Where a word stands as `--hide` and `--query` find it; digits are a position.
function placesOf(wanted, words) {
  if (/^[0-9]+$/.test(wanted)) {
    return [Number(wanted)];
  }
  const found = (same) => words.flatMap((each, place) => (same(each) ? [place] : []));
  const exact = found((each) => each === wanted || each.trim() === wanted);
  return exact.length > 0 ? exact : found((each) => each.toLowerCase() === wanted.toLowerCase()); // the program folds both
}

/// "head 2", or "the mean of 8 heads".
const headText = (head) => (result.heads[head] === "mean" ? `the mean of ${result.allHeads} heads` : `head ${result.heads[head]}`);

/// The row of an (…, T, S) array.
function rowOf(array, head, row) {
  const length = array.shape[2];
  const start = (head * array.shape[1] + row) * length;
  return array.values.subarray(start, start + length);
}

const weight = (head, row, column) => result.weights.values[(head * result.T + row) * result.S + column];

/// The rows of all heads, of one after the other.
const rowsOf = ({ weights, H, T }) => Array.from({ length: H * T }, (_, row) => rowOf(weights, 0, row));

/// Weights are not below 0, and each row sums to 1, or to 0 where all is masked. Other numbers, as `plot` takes them, have neither
/// shares nor an entropy. Of several layers the first one tells.
function haveShares(result) {
  const slack = 0.02; // what rounding to bfloat16 leaves of 1
  return !rowsOf(result).some((row) => {
    const sum = row.reduce((total, w) => total + w, 0);
    return row.some((w) => w < 0) || (sum !== 0 && Math.abs(sum - 1) > slack);
  });
}

/// What is computed of each result once.
function ofResult(compute) {
  const known = once(compute);
  return () => known(result);
}

/// Whether weights of another program, of whose masks nothing is known, are all 0 above the diagonal.
const looksCausal = ofResult(() => {
  const { T, S, weights, chosen, config } = result;
  const known = config.draws?.length > 0 || config.parameters || config.dims?.heads;
  const square = areWeights && !known && T === S && T > 1 && !chosen;
  return square && weights.values.every((w, i) => w === 0 || i % S <= Math.floor(i / S) % T);
});

/// −Σ w·ln w of a row, in nats.
function entropy(head, row) {
  if (result.entropies) {
    return result.entropies.values[head * result.T + row];
  }
  return result.round(rowOf(result.weights, head, row).reduce((sum, w) => (w > 0 ? sum - w * Math.log(w) : sum), 0));
}

/// A function of the head that looks at it once, in each layer.
function ofHead(compute) {
  const known = ofResult(() => []);
  return (head) => (known()[head] ??= compute(head));
}

const meanEntropy = ofHead((head) => result.positions.reduce((sum, _, row) => sum + entropy(head, row), 0) / result.T);

/// All weights of a head, row after row.
const weightsOf = (head) => result.weights.values.subarray(head * result.T * result.S, (head + 1) * result.T * result.S);

/// The ends of the colours: 0 and the largest weight, 1 where there is none; of other numbers the least and the largest.
function rangeOf(values) {
  let [least, largest] = areWeights ? [0, 0] : [Infinity, -Infinity];
  for (const value of values) {
    least = value < least ? value : least;
    largest = value > largest ? value : largest;
  }
  return least < largest ? { least, largest } : { least: Math.min(least, 0), largest: least < 0 ? 0 : least || 1 }; // one number alone
}

/// The places of the `count` largest of `values`, from the largest on; of equals the first.
function strongest(values, count) {
  const best = [];
  for (let i = 0; i < values.length; ++i) {
    const value = values[i];
    if (best.length === count && !(value > values[best[count - 1]])) {
      continue;
    }
    let [place, end] = [0, best.length];
    while (place < end) {
      const middle = (place + end) >> 1;
      [place, end] = value > values[best[middle]] ? [place, middle] : [middle + 1, end];
    }
    best.splice(place, 0, i);
    best.length = Math.min(best.length, count);
  }
  return best;
}

/// The key with the largest weight of a row.
const strongestKey = (head, row) => strongest(rowOf(result.weights, head, row), 1)[0] ?? 0;
