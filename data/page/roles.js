// What each head does, as the program says.

/// What the program says of all its pictures (report/html/html.cpp): colours, and the means of heads with their names.
const declared = JSON.parse(find("declared").textContent);
const meanKinds = Object.fromEntries(declared.means.map((mean) => [mean.name, mean]));

/// The means of a head, in the layer that is looked at unless another is meant, as the program found them: each under its name, and under
/// "role" the name of the largest where one stands out. Nothing of numbers that are no weights, and of a what-if.
const meansOf = (head, layer = results.indexOf(result)) => (areWeights && asked.means[layer]?.[head]) || {};

/// What a head does: which mean, and "previous 0.94"; null where it is nothing special.
function roleOf(head, layer) {
  const means = meansOf(head, layer);
  const kind = meanKinds[means.role];
  return kind ? { ...kind, text: `${kind.header} ${means[kind.name].toFixed(2)}` } : null;
}
