// What if: the same queries, keys and values with another mask or scale. Computed here with the arithmetic of the program, and
// offered only where that gives the numbers of the file again, so that it is what the command beside it prints.

/// What is changed; null: nothing.
let change = null;

/// Of the file: what the controls show before anything is changed.
function savedChange(saved) {
  return { causal: Boolean(saved.attention.causal), scale: saved.attention.scale !== "none", temperature: 1, hidden: [...saved.hidden], added: null };
}

/// As the config would say it: nothing, "none", or the factor.
function scaleOfChange(saved, { scale: isScaled, temperature }) {
  const { scale: own } = saved.attention;
  const scale = !isScaled ? "none" : own === "none" ? undefined : own;
  return temperature === 1 ? scale : within({ ...saved, attention: { ...saved.attention, scale } }, scaleFactor) / temperature;
}

/// Where a mask from a file hides: what is masked, but not by place or name. Null where it adds numbers, or may hide more.
function closedByFile(saved) {
  const { attention, masked, capped, scaled, scores, T, S } = saved;
  if (!attention.mask) {
    return undefined;
  }
  const before = masksFirst() ? scores : attention.softcap === undefined ? scaled : capped;
  if (!masked || !before || attention.causal || attention.window || isAlibi()) {
    return null;
  }
  const plain = masked.values.every((value, i) => value === -Infinity || value === before.values[i]);
  return plain ? Uint8Array.from(masked.values, (value, i) => value === -Infinity && !saved.hidden.has(i % S)) : null;
}

/// An array like the weights, made row by row.
function byRow({ H, T, S, weights }, make) {
  const values = new weights.values.constructor(H * T * S);
  for (let row = 0; row < H * T; ++row) {
    values.set(make(Math.floor(row / T), row % T), row * S);
  }
  return { shape: [H, T, S], values };
}

/// The scores of all heads as the file has them, with the number that is added to one of them.
function scoresWith(saved, added) {
  const scores = saved.scores ?? (saved.ownScores ??= within(saved, () => byRow(saved, scoresOfRow)));
  if (added === null) {
    return scores;
  }
  const values = scores.values.slice();
  values[(added.head * saved.T + added.row) * saved.S + added.column] += added.by;
  return { ...scores, values };
}

/// " + 1" where that is added to this score; "" elsewhere.
function addedTo(head, row, column) {
  const { by, ...cell } = change?.added ?? {};
  return by !== undefined && cell.head === head && cell.row === row && cell.column === column ? ` ${by < 0 ? "−" : "+"} ${Math.abs(by)}` : "";
}

/// A result like `saved` with the change in it.
function changedResult(saved, changes) {
  const scale = scaleOfChange(saved, changes);
  const attention = { ...saved.attention, causal: changes.causal, scale };
  const without = { scaled: null, capped: null, masked: null, headContext: null, entropies: null, context: null };
  const made = { ...saved, ...without, attention, hidden: new Set(changes.hidden), closed: closedByFile(saved), changed: true };
  made.scores = scoresWith(saved, changes.added);
  made.weights = within(made, () => byRow(saved, (head, row) => softmax(stagesOfRow(head, row).last)));
  return made;
}

const fewWeights = 20000;
const sampledRows = 64;
const mostChanged = 3e9; // products of scores that a page computes while somebody waits

/// Whether the page computes the weights of the file again: all of them where they are few, otherwise those of some rows.
function agrees() {
  const { H, T, weights } = result;
  const same = (made, held) => made.every((w, i) => w === held[i] || (Number.isNaN(w) && Number.isNaN(held[i])));
  if (weights.values.length <= fewWeights) {
    return same(changedResult(result, savedChange(result)).weights.values, weights.values);
  }
  const rows = Array.from({ length: sampledRows }, (_, i) => Math.floor((i * (H * T - 1)) / (sampledRows - 1)));
  return rows.map((row) => [Math.floor(row / T), row % T]).every(([head, row]) => same(softmax(stagesOfRow(head, row).last), rowOf(result.weights, head, row)));
}

/// Why there is no what-if, in words; "" where there is one. Of whole models the layers before would change, too.
function whyNot() {
  const { keys, scores, attention, H, T, S } = result;
  if (layers.length > 0 && areWeights) {
    return "There is no what-if of a whole model: the layers before would change, too.";
  }
  if (!areWeights || !isOfRun() || !(scores || vectors(0, 0)) || !keys || attention.dropout || result.heads[0] === "mean") {
    return "-";
  }
  if (closedByFile(result) === null) {
    return "A mask from a file is part of these weights: what they would be without it is not in this page.";
  }
  if (!scores && H * T * S * keys.shape[2] > mostChanged) {
    return "-";
  }
  return agrees() ? "" : "These weights were computed with other instructions than --isa portable; without them this page could be asked what if.";
}

/// A word as a shell takes it.
const shellWord = (text) => (/^[\w./,:=+-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);

/// What --hide takes for these places: a word where it says the same, otherwise positions.
function hideList(places) {
  const words = result.columns.slice(0, result.wordsOfKeys);
  const text = words[places[0]];
  const plain = /^[\p{L}\p{N}]+$/u.test(text ?? "") && !/^[0-9]+$/.test(text);
  const same = plain && String(placesOf(text, words)) === String(places);
  return same ? text : places.join(",");
}

/// The command that computes the change; "" where none does.
function commandOf(saved, changes) {
  const base = asked.command;
  const recipe = base?.includes(" --recipe ");
  const scale = scaleOfChange(saved, changes);
  const cannot = changes.added !== null || recipe && ((saved.hidden.size > 0 && changes.hidden.length === 0) || (saved.attention.scale !== undefined && scale === undefined));
  if (!base || cannot) {
    return "";
  }
  const parts = [base];
  changes.causal ? parts.push("--causal") : recipe && saved.attention.causal && parts.push("--no-causal");
  scale !== undefined && parts.push("--scale", String(scale));
  changes.hidden.length > 0 && parts.push("--hide", shellWord(hideList(changes.hidden)));
  return parts.join(" ");
}

/// "3 of 36 weights have changed": of those of the file.
function changedText(saved) {
  const { values } = saved.weights;
  const count = result.weights.values.reduce((sum, w, i) => sum + (w !== values[i] && number(w) !== number(values[i])), 0);
  return `${count} of ${counted(values.length, "weight")} ${count === 1 ? "has" : "have"} changed; marked is what shows other digits`;
}

/// Whether a cell is not shown as of the file.
const isChanged = (head, row, column, shown = (...cell) => number(weight(...cell))) =>
  change !== null && shown(head, row, column) !== within(resultOf(0), () => shown(head, row, column));

/// 0.1 … 10 in even steps of the logarithm, two digits each.
const temperatureAt = (place) => Number((10 ** Number(place)).toPrecision(2));

/// The controls.
class WhatIf {
  constructor() {
    const listen = (id, type, read) => find(id).addEventListener(type, () => this.set(read(find(id))));
    listen("what-causal", "change", (box) => ({ causal: box.checked }));
    listen("what-scale", "change", (box) => ({ scale: box.checked }));
    listen("what-temperature", "input", (slider) => ({ temperature: temperatureAt(slider.value) }));
    listen("what-score", "input", (slider) => ({ added: Number(slider.value) === 0 ? null : { head: state.head, row: state.row, column: state.column, by: Number(slider.value) } }));
    listen("what-hide", "change", (list) => ({ hidden: this.choices[list.value].places }));
    find("what-reset").addEventListener("click", () => this.set(this.start));
    find("what-copy").addEventListener("click", () => copyCommand(find("what-command"), find("what-copy")));
  }

  /// Another result, of which nothing is changed.
  fill() {
    const { scale = "none" } = result.attention;
    const why = whyNot();
    cancelAnimationFrame(this.frame);
    this.start = this.now = savedChange(result);
    find("what-if").hidden = why === "-";
    find("what-controls").hidden = why !== "";
    find("what-note").replaceChildren(...unbroken(why === "-" ? "" : why));
    find("what-command-row").hidden = true;
    if (why === "") {
      find("what-scale").closest("label").hidden = scaleFactor() === 1 && result.attention.scale !== "none";
      find("what-scale-name").replaceChildren(...(scale === "none" ? typeset("1/√d_k") : [`× ${number(scale)}`]));
      this.fillWords();
      this.show();
    }
  }

  /// Nothing, each word, and each that stands in several places everywhere.
  fillWords() {
    const words = result.columns.slice(0, result.wordsOfKeys);
    this.choices = [{ text: "no word", places: [] },
      ...words.map((text, place) => ({ text: shortened(text, 24) + (positionText(words, place) && ` (${place})`), places: [place] })),
      ...[...placesOfWords(words)].filter(([, each]) => each.length > 1).map(([text, each]) => ({ text: `every ${shortened(text, 24)}`, places: each }))];
    const same = (one, other) => String(one) === String(other);
    if (!this.choices.some((each) => same(each.places, this.start.hidden))) {
      this.choices.push({ text: "as in the file", places: this.start.hidden });
    }
    this.placeOf = (hidden) => this.choices.findIndex((each) => same(each.places, hidden));
    find("what-hide").replaceChildren(...this.choices.map((each, i) => element("option", { value: String(i), text: each.text })));
  }

  set(part) {
    this.now = { ...this.now, ...part };
    const changed = JSON.stringify(this.now) !== JSON.stringify(this.start);
    cancelAnimationFrame(this.frame); // a slider moves faster than a large page computes
    this.frame = requestAnimationFrame(() => {
      showChange(changed ? this.now : null);
      this.show();
    });
  }

  show() {
    const { causal, scale, temperature, hidden, added } = this.now;
    find("what-causal").checked = causal;
    find("what-scale").checked = scale;
    const slider = find("what-temperature");
    if (temperatureAt(slider.value) !== temperature) {
      slider.value = Math.log10(temperature);
    }
    slider.setAttribute("aria-valuetext", String(temperature));
    find("what-temperature-text").textContent = String(temperature);
    find("what-score").value = added?.by ?? 0;
    const to = added ? `${visible(result.rows[added.row])} → ${visible(result.columns[added.column])}: ${added.by > 0 ? "+" : "−"}${Math.abs(added.by)}` : "+0";
    find("what-score").setAttribute("aria-valuetext", to);
    find("what-score-text").textContent = added ? to : "";
    find("what-hide").value = String(this.placeOf(hidden));
    find("what-reset").disabled = change === null;
    find("what-if").classList.toggle("changes", change !== null);
    const command = change === null ? "" : commandOf(resultOf(0), this.now);
    find("what-command-row").hidden = change === null;
    find("what-command").replaceChildren(...unbroken(change === null ? "" : command || (this.now.added ? "No option changes one score." : "No option takes off what the recipe says.")));
    find("what-copy").hidden = command === "";
  }
}

/// Copies the command that stands in an element, and says so on the button.
async function copyCommand(place, button) {
  try {
    await navigator.clipboard.writeText(place.textContent);
  } catch {
    getSelection().selectAllChildren(place);
    document.execCommand("copy"); // where a file from disk has no clipboard
  }
  announce("Copied");
  button.textContent = "Copied";
  setTimeout(() => button.replaceChildren("Copy"), 1500);
}
