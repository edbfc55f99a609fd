// Where a number lies between the ends of the colours, and these: one scale for cells, chips, bars, lines and small pictures of a
// view. On paper more ink is more weight; on a dark ground brighter is more (report/scale.hpp, report/colour_map.hpp).

/// What the command line asked for, the scale and the command itself; and the means of heads.
let asked;

const shades = ["absolute", "row", "log"];
const decades = 4; // of the logarithm
const manyKeys = 24; // of which one is 1 under a causal mask, and nearly all others would have the colour of 0
let shade, chosenShade;
const usualShade = () => chosenShade ?? asked.shade ?? (areWeights && asked.shade_max === undefined && result.S > manyKeys ? "row" : "absolute");

/// 1, 2, 2.5 or 5 times a power of ten, not less than `least` > 0.
function roundUp(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return Number([1, 2, 2.5, 5, 10].map((size) => size * power).find((size) => size >= least * (1 - 1e-12)).toPrecision(3));
}

const rangeOfAll = ofResult(() => rangeOf(result.weights.values));

/// That of all numbers of this layer: of weights from 0 to 1, or to a round number where none is over a half.
function wholeScale() {
  const range = rangeOfAll();
  const scale = areWeights ? { least: 0, largest: range.largest > 0.5 ? 1 : roundUp(range.largest) } : range;
  const most = asked.shade_max;
  return { ...scale, largest: most ?? scale.largest, beyond: most < scale.largest, log: shade === "log" };
}

/// That of a row.
const scaleOf = (head, row) => (shade === "row" ? rangeOf(rowOf(result.weights, head, row)) : wholeScale());

/// Where a number lies in a scale: 0 … 1. By halves, for the scale may be longer than a double can hold.
function shareOf(value, { least, largest, log }) {
  const share = log ? (value > 0 ? 1 + Math.log10(value / largest) / decades : 0) : (value / 2 - least / 2) / (largest / 2 - least / 2);
  return Math.min(Math.max(share, 0), 1);
}

// ---- colours ---------------------------------------------------------------------------------------------------------

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
/// On paper a page is light.
function isDark() {
  const { theme = prefersDark.matches ? "dark" : "light", printing } = document.documentElement.dataset;
  return theme === "dark" && printing === undefined;
}

const ground = () => (isDark() ? "dark" : "light");

const ramps = Object.fromEntries(["light", "dark"].map((name) => [name, Uint8ClampedArray.from({ length: 768 }, (_, i) => parseInt(declared[name].slice(2 * i, 2 * i + 2), 16))]));

/// The colour of a share in [0, 1].
const colourPlace = (share) => Math.round(Math.min(Math.max(share, 0), 1) * 255);
const colourOf = (share) => [...ramps[ground()].subarray(3 * colourPlace(share), 3 * colourPlace(share) + 3)];
const css = (share) => `rgb(${colourOf(share).join(", ")})`;
/// Text that can be read on it: by the relative luminance of WCAG 2.
function inkOn(share) {
  const linear = (part) => (part <= 10.31475 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const [red, green, blue] = colourOf(share).map(linear);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}

/// Signed numbers, of the strips of vectors: from one hue over the ground to another, which no eye mixes up. `share` is in [−1, 1].
const signedStops = { light: [[168, 132, 0], [247, 246, 242], [31, 91, 160]], dark: [[224, 185, 60], [38, 40, 44], [110, 178, 255]] };
function signedColour(share) {
  const [below, zero, above] = signedStops[ground()];
  const size = Number.isFinite(share) ? Math.min(Math.abs(share), 1) : 1;
  const end = share < 0 ? below : above;
  return zero.map((part, i) => Math.round(part + (end[i] - part) * size));
}

// ---- the key ---------------------------------------------------------------------------------------------------------

const plain = (x) => String(Number(x.toPrecision(4))).replace(/-/g, "−");

/// "0.04 to 1", of all rows.
function rowsLargest() {
  const largest = Float64Array.from(rowsOf(result), (row) => rangeOf(row).largest).sort();
  const texts = [largest[0], largest.at(-1)].map((x) => plain(Number(x.toPrecision(2))));
  return texts[0] === texts[1] ? texts[0] : texts.join(" to ");
}

/// What stands below the bar of colours.
function scaleTexts() {
  if (shade === "row") {
    return [areWeights ? "0" : "row’s least", `row’s largest${areWeights ? `: ${rowsLargest()}` : ""}`];
  }
  const { least, largest, beyond } = wholeScale();
  const first = shade === "log" ? [largest / 10 ** decades, largest / 10 ** (decades / 2)] : [least, least / 2 + largest / 2];
  return [...first.map(plain), (beyond ? "≥ " : "") + plain(largest)];
}

/// The bar of colours with its numbers.
function scaleKey() {
  const bar = element("canvas", { class: "scale", "aria-hidden": "true", width: 256, height: 1 });
  const pencil = bar.getContext("2d");
  for (let i = 0; i < 256; ++i) {
    pencil.fillStyle = css(i / 255);
    pencil.fillRect(i, 0, 1, 1);
  }
  const texts = scaleTexts().map((text) => element("span", { text }));
  return element("div", { class: "scale-key" }, bar, element("div", { class: "scale-texts" }, ...texts));
}

const shadeTitles = () => ({ row: areWeights ? "each row to its own largest" : "each row from its least to its largest", log: "by the logarithm" });
const shadeSentences = () => ({
  absolute: areWeights ? "One scale for all numbers." : "One scale for all numbers: from the least to the largest.",
  row: areWeights ? "Each row to its own largest." : "Each row from its least to its largest.",
  log: "By the logarithm, from a ten thousandth of the largest.",
});
