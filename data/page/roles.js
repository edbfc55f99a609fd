// What each head does: its means, and the largest of them.

/// What the program says of all its pictures (report/html/html.cpp): colours, and the means of heads with their names.
const declared = JSON.parse(find("declared").textContent);
const meanKinds = Object.fromEntries(declared.means.map((mean) => [mean.name, mean]));

/// Numbers that are equal where words are.
const wordIds = ofResult(() => {
  const { token_ids: ids = [], tokens = [] } = json;
  return ids.length === tokens.length ? ids : tokens.map((text) => placesOfWords(tokens).get(text)[0]);
});

/// The means of a head, whose row i is `rowAt(i)`, as the program's summary has them: over the rows that have such a key; null
/// where no row has.
function meansOfRows(rowAt) {
  const sums = Object.fromEntries(declared.means.map(({ name }) => [name, [0, 0]]));
  const count = (name, value) => {
    sums[name][0] += value;
    sums[name][1] += 1;
  };
  const ids = result.cross ? [] : wordIds();
  const words = ids.length;
  result.positions.forEach((position, i) => {
    const row = rowAt(i);
    count("first", row[0]);
    for (const [name, key] of [["itself", position], ["previous", position - 1], ["next", position + 1]]) {
      if (key >= 0 && key < words) {
        count(name, row[key]);
      }
    }
    let [others, behind] = [null, null];
    for (let key = 0; key < words; ++key) {
      if (key !== position && ids[key] === ids[position]) {
        others += row[key];
        behind = key + 1 < position ? behind + row[key + 1] : behind;
      }
    }
    if (others !== null) {
      count("same", others);
    }
    if (behind !== null) {
      count("induction", behind);
    }
  });
  return Object.fromEntries(Object.entries(sums).map(([name, [sum, number]]) => [name, number === 0 ? null : sum / number]));
}
const meansOf = ofHead((head) => ({ ...meansOfRows((i) => rowOf(result.weights, head, i)), entropy: meanEntropy(head) }));

/// Those of weights that are equal over what each row sees: all keys, or those up to its own where no weight lies beyond.
const equalMeans = ofResult(() => {
  const { T, S, positions, weights } = result;
  const causal = weights.values.every((w, place) => w === 0 || place % S <= positions[Math.floor(place / S) % T]);
  return meansOfRows((i) => {
    const seen = causal ? Math.min(positions[i] + 1, S) : S;
    return new Float64Array(S).fill(1 / seen, 0, seen);
  });
});

/// The name of the largest mean that is a share of the weights and large: in itself, and beside equal weights; null of none.
const roleOf = ofHead((head) => {
  const means = meansOf(head);
  const shares = Object.keys(means).filter((name) => name !== "entropy" && means[name] >= Math.max(declared.least_role, 2 * equalMeans()[name]));
  return shares.reduce((best, name) => (best === null || means[name] > means[best] ? name : best), null);
});

/// "previous 0.94"; empty of a head that does nothing special.
const roleText = (head) => {
  const role = areWeights ? roleOf(head) : null;
  return role === null ? "" : `${meanKinds[role].header} ${meansOf(head)[role].toFixed(2)}`;
};
