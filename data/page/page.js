// The page: what is chosen, and what follows from it.

const state = { layer: 0, head: 0, row: 0, column: 0, pointed: null, step: 0, view: "map" };

/// Of many words and a head that does something the strongest pair; otherwise, of the rows that see at least half of what any row sees, one that
/// attends neither to one word alone nor to all alike, and its largest weight; of other numbers the largest.
function firstChoice(head) {
  if (!areWeights || (result.S > mostLinesOfBench && roleOf(head) !== null)) {
    const [place = 0] = strongest(freeWeights(head).free, 1);
    return { row: Math.floor(place / result.S), column: place % result.S };
  }
  const seen = Array.from({ length: result.T }, (_, row) => seenKeys(head, row));
  const most = Math.max(...seen);
  const enough = Math.max(most / 2, Math.min(most, 2)); // with one the mask says the weight
  const distance = (row) => (seen[row] < enough ? Infinity : Math.abs(entropy(head, row) - 0.6 * Math.log(seen[row])));
  const row = seen.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0);
  return { row, column: strongestKey(head, row) };
}

const positionNames = { sinusoidal: "sinusoidal positions", rope: "rotary positions", alibi: "ALiBi" };

/// What this is: of what kind, how large, and where its numbers come from.
function facts() {
  const { H, T, S, queries, keys, values, config, attention } = result;
  const seeds = [...new Set((config.draws ?? []).map((draw) => draw.seed).filter((seed) => seed !== undefined))];
  const file = config.parameters?.file;
  const parts = [
    areWeights ? (result.cross ? "cross-attention" : "self-attention") : "",
    attention.causal ? "causal" : "",
    attention.window ? "window" : "",
    attention.mask ? "with a mask" : "",
    result.hidden.size > 0 ? `${counted(result.hidden.size, "word")} hidden` : "",
    attention.positions ? positionNames[attention.positions.kind] : "",
    layers.length > 0 ? `${result.part ? `${result.part} ` : ""}layer ${result.layer}` : "",
    result.cross || result.chosen || T !== S ? `${counted(T, "query word")}, ${counted(S, "key word")}` : counted(T, "word"),
    (result.chosenHeads && H === 1 ? headText(0) : counted(H, "head")) + (keys && keys.shape[0] !== H ? ` sharing ${counted(keys.shape[0], "key/value head")}` : ""),
    queries || keys ? `d_k ${(queries ?? keys).shape[2]}` : "",
    values ? `d_v ${values.shape[2]}` : "",
    config.dtype ?? "",
    json.config?.model?.name ? `model ${json.config.model.name}` : file ? `weights of ${file}` : seeds.length > 0 ? `random weights, seed ${seeds.join(", ")}` : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

const select = (row, column) => update({ row, column, pointed: null });
const point = (place) => update({ pointed: place });
/// The table of a step, of another key.
function openTable(step, column) {
  update({ step, column, pointed: null });
  find("step").focus();
  find("steps").scrollIntoView({ block: "nearest" });
}
const focusOnCell = () => (state.view === "map" ? heatMap.cell : lines.left.children[state.row]).focus();

const heatMap = new HeatMap();
const lines = new Lines();
const sentences = new Sentences();
const heads = new Heads();
const bench = new Workbench();
const whatIf = new WhatIf();
const steps = new Steps();
const modelView = new ModelView();
const views = ["map", "lines"];

function update(change) {
  const before = { ...state };
  Object.assign(state, change);
  const changed = (...names) => names.some((name) => before[name] !== state[name]);
  if (changed("layer")) {
    showLayer(state.layer);
    heads.fill();
    state.head = Math.min(state.head, result.H - 1);
    state.step = Math.min(state.step, kinds.length - 1);
  }
  const { head, row, column, step, view } = state;
  if (changed("view")) {
    heatMap.pointed = lines.pointed = state.pointed = null; // the pointer is over something else now
    showView(view);
  }
  if (changed("layer", "head", "view")) {
    showLegend(head, view);
  }
  if (changed("layer", "head")) {
    showHead(head);
    announce(nameOfHead(head));
    modelView.choose(state.layer, head);
  }
  if (changed("row", "column", "head", "layer")) {
    writeLink();
    changed("row", "column") && heatMap.reveal();
    lines.reveal();
    lines.drawOwn();
    showStep();
  } else if (changed("step")) {
    showStep();
    announce(`Step ${step + 1} of ${kinds.length}: ${kinds[step].name}`);
  }
  if (changed("row", "column")) {
    announce(`${visible(result.rows[row])} to ${visible(result.columns[column])}: ${number(weight(head, row, column))}`);
  }
  modelView.show(state.pointed?.row ?? row);
  if (changed("row", "column", "head", "layer", "pointed")) {
    showPlace();
  }
}

/// The row that is chosen or pointed at, and the words that are marked everywhere.
function showPlace() {
  const { head, row, column, pointed } = state;
  const shown = pointed?.row ?? row;
  const key = pointed?.column ?? (pointed?.row !== undefined && pointed.row !== row ? -1 : column);
  sentences.show(shown, key);
  showRow(shown, key);
  const same = sentences.together && pointed ? pointed : {}; // a word there is a row and a column
  const marked = pointed && { row: pointed.row ?? same.column, column: pointed.column ?? same.row };
  heatMap.pointed = marked;
  heatMap.redrawSoon();
  for (const each of document.querySelectorAll("[data-key]")) {
    const hit = marked && (Number(each.dataset.key) === marked.column || Number(each.dataset.query ?? -1) === marked.row);
    each.classList.toggle("marked", Boolean(hit));
  }
  const readKey = key < 0 ? strongestKey(head, shown) : key;
  const cell = isMasked(head, shown, readKey) ? masked : number(weight(head, shown, readKey));
  find("readout").replaceChildren(fullWordAt(result.rows, shown), " → ", fullWordAt(result.columns, readKey), " ", strong(cell));
}

/// A word uncut, unless it is as long as a text.
const fullWordAt = (words, place) => element("span", {}, element("bdi", { class: "word", text: shortened(words[place], 200) }), positionOf(words, place));

function showLayer(layer) {
  result = whatIfResult ?? resultOf(layer);
  check(find("layers"), layer);
  find("facts").textContent = facts();
  steps.fill();
}

function showStep() {
  if (hasSteps()) {
    const cell = cellAt(state);
    steps.show(cell, state.step);
    bench.show(cell, state.step);
  }
}

/// Everything anew: of another scale, ground or what-if.
function showAll() {
  heads.fill();
  modelView.gather();
  find("theme").setAttribute("aria-pressed", String(isDark()));
  showHead(state.head);
  showLegend(state.head, state.view);
  showStep();
  showPlace();
}

/// That step where there is one of this name, or the first.
const stepNamed = (name) => Math.max(kinds.findIndex((kind) => kind.name === name), 0);

/// The result with a what-if in it; undefined: as the file has it.
let whatIfResult;
function showChange(changes) {
  change = changes;
  whatIfResult = changes === null ? undefined : changedResult(resultOf(0), changes);
  const kind = kinds[state.step].name;
  showLayer(state.layer);
  state.step = stepNamed(kind);
  showAll();
  const said = changes === null ? "" : changedText(resultOf(0));
  find("what-count").textContent = said;
  announce(said || "The numbers of the file");
}

function showShade() {
  shade = usualShade();
  check(find("shade"), shades.indexOf(shade));
  showAll();
}

function chooseShade(name) {
  chosenShade = name;
  showShade();
}

function showHead(head) {
  heatMap.showHead();
  lines.draw();
  heads.show(head);
  showPairs(head);
}

function legendOfLines() {
  const [queriesAt, keysAt] = mirrored ? ["right", "left"] : ["left", "right"];
  const about = areWeights ? `Words on the ${queriesAt} attend to words on the ${keysAt}, the thicker the more. Of all words the strongest lines are drawn`
    : `The thicker a line from a row on the ${queriesAt} to a column on the ${keysAt}, the larger the number. Of all words the thickest lines are drawn`;
  return `${about}, ${mostLines()} at most; of the chosen one all from ${100 * leastShare} % of the scale.`;
}
const legendOfColours = () => (areWeights ? "Rows attend to columns; each row adds up to 1." : "These numbers are no weights.");

function showLegend(head, view) {
  find("legend").replaceChildren(areWeights ? "weight" : "number", scaleKey(),
    hidesSome(head) ? element("span", { class: "hidden-key" }, element("span", { class: "swatch" }), masked) : "",
    change === null ? "" : element("span", { class: "hidden-key" }, element("span", { class: "swatch of-change" }), "changed"));
  find("picture-title").replaceChildren(areWeights ? "Weights" : "Numbers", shade === "absolute" ? "" : element("span", { class: "hint", text: `, ${shadeTitles()[shade]}` }));
  find("legend-text").textContent = `${shadeSentences()[shade]} ${view === "lines" ? legendOfLines() : legendOfColours()}`;
}

function showView(view) {
  find("heat-map").hidden = find("zoom").hidden = view !== "map";
  find("lines").hidden = view !== "lines";
  check(find("view"), views.indexOf(view));
  if (view === "lines") {
    lines.draw();
    lines.reveal();
  } else {
    heatMap.view = null; // is measured anew, and scrolled to the chosen cell
    heatMap.redrawSoon();
  }
}

// ---- theme, saving ---------------------------------------------------------------------------------------------------

find("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  showAll();
});
prefersDark.addEventListener("change", showAll);
onPhone.addEventListener("change", showStep);

/// On paper a page is light.
for (const [event, printing] of [["beforeprint", true], ["afterprint", false]]) {
  addEventListener(event, () => {
    document.documentElement.toggleAttribute("data-printing", printing);
    showAll();
    heatMap.draw(); // no frame comes before the paper
  });
}
find("save-json").addEventListener("click", () => {
  const href = URL.createObjectURL(new Blob([savedJson()], { type: "application/json" }));
  element("a", { download: "attention.json", href }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
});

// ---- the link to what is chosen --------------------------------------------------------------------------------------

let linking;
let address = location.hash;
/// "#l=3&h=5&q=7&k=2": layer, head, and positions of query and key, as the program counts them. Browsers refuse more than some addresses
/// a second.
function writeLink() {
  const layer = layers.length > 0 ? `l=${result.layer}&` : "";
  address = `#${layer}h=${result.heads[state.head]}&q=${result.positions[state.row]}&k=${state.column}`;
  clearTimeout(linking);
  linking = setTimeout(() => history.replaceState(null, "", address), 200);
}

/// What the address asks for; of what is not there, nothing.
function linked() {
  const asked = new URLSearchParams(address.slice(1));
  const choice = {};
  const choose = (name, key, places) => {
    const place = places.map(String).indexOf(asked.get(key));
    Object.assign(choice, place < 0 ? {} : { [name]: place });
  };
  choose("layer", "l", layers.map(({ layer }) => layer));
  choose("head", "h", result.heads);
  choose("row", "q", result.positions);
  choose("column", "k", result.columns.map((_, i) => i));
  if ("row" in choice && !("column" in choice)) {
    choice.column = within(resultOf(choice.layer ?? state.layer), () => strongestKey(choice.head ?? state.head, choice.row));
  }
  return choice;
}
addEventListener("hashchange", () => {
  address = location.hash;
  update(linked());
});

// ---- keys ------------------------------------------------------------------------------------------------------------

listenToChoice(find("layers"), (layer) => update({ layer }));
listenToChoice(find("view"), (at) => update({ view: views[at] }));
listenToChoice(find("shade"), (at) => chooseShade(shades[at]));

const shortcuts = {
  "[": () => update({ head: Math.max(state.head - 1, 0) }),
  "]": () => update({ head: Math.min(state.head + 1, result.H - 1) }),
  "{": () => update({ layer: Math.max(state.layer - 1, 0) }),
  "}": () => update({ layer: Math.max(Math.min(state.layer + 1, layers.length - 1), 0) }),
  p: () => hasSteps() && update({ step: Math.max(state.step - 1, 0) }),
  n: () => hasSteps() && update({ step: Math.min(state.step + 1, kinds.length - 1) }),
  m: () => layers.length > 1 && modelView.toggle(),
  v: () => update({ view: state.view === "map" ? "lines" : "map" }),
  Escape: () => {
    point(null);
    focusOnCell();
  },
};
listenToKeys(document, ({ key, target, ctrlKey, altKey, metaKey }) => {
  const typing = target.matches("select, textarea, input:not([type=checkbox], [type=range])");
  const isOff = key.length === 1 && !find("shortcuts").checked;
  if (ctrlKey || altKey || metaKey || typing || isOff || !Object.hasOwn(shortcuts, key)) {
    return false;
  }
  shortcuts[key]();
});

function zoom(factor) {
  heatMap.zoom *= factor;
  heatMap.layout();
  heatMap.reveal();
}
find("smaller").addEventListener("click", () => zoom(1 / 1.5));
find("larger").addEventListener("click", () => zoom(1.5));

// ---- the first picture -----------------------------------------------------------------------------------------------

/// What is the same in all layers of a result.
function showFrame() {
  find("remark").textContent = asked.remark ?? "";
  find("map").parentElement.classList.toggle("right-to-left", mirrored);
  find("layers").replaceChildren(...layers.map(({ layer }) => element("button", { type: "button", role: "radio", text: layer })));
  const stepwise = hasSteps();
  const hide = (selector, hidden) => document.querySelectorAll(selector).forEach((each) => each.toggleAttribute("hidden", hidden));
  hide("#layers-section, .of-layers", layers.length < 2);
  hide("#heads-section", result.H === 1);
  hide(".of-steps, #steps, #bench, #beside", !stepwise);
  find("reading").setAttribute("aria-label", areWeights ? "What the word attends to" : "The numbers of a row");
  find("row").style.minHeight = "";
  stepwise || ["step", "steps-title", "bench-title", "formula-line", "bench-rows"].forEach((id) => find(id).replaceChildren());
  find(stepwise ? "below" : "columns").append(find("reading")); // weights alone: there is room for what they say
  const sentence = shortened(result.tokens.slice(0, 200).join(" "), 60);
  document.title = `${areWeights ? "Attention" : "Numbers"}: ${sentence}`;
  find("title").textContent = `${areWeights ? "What each word attends to" : "Numbers"}: ${sentence}`;
  find("notes").replaceChildren(...result.warnings.map((warning) => element("p", { text: visible(warning) })),
    result.hasWords ? "" : element("p", { text: "The words are not in this result; positions stand for them." }),
    isOfRun() && !stepwise ? element("p", {}, ...unbroken("A page made with queries, keys and values among --show of attn-cli run also shows, step by step, how each weight comes about.")) : "");
  find("name").textContent = visible(json.config?.title ?? "");
}

/// Shows a result: its JSON, and what was asked for. What the link says of the one before holds where it is in this one, too.
function show(text, request) {
  const kind = state.step > 0 ? kinds[state.step].name : "";
  const before = layers?.length ?? 0;
  takeResult(text);
  asked = request;
  whatIfResult = undefined;
  change = null;
  component = 0;
  address = before > 1 === layers.length > 1 || before === 0 ? address : "";
  Object.assign(state, { layer: 0, head: 0, row: 0, column: 0, pointed: null }, linked());
  showFrame();
  showLayer(state.layer);
  Object.assign(state, firstChoice(state.head), linked(), { step: stepNamed(kind) });
  [heatMap, lines, sentences, modelView, whatIf].forEach((view) => view.fill());
  find("what-count").textContent = "";
  find("shade").lastElementChild.disabled = !areWeights; // log
  chosenShade = areWeights ? chosenShade : undefined;
  showView(state.view);
  lines.reveal();
  modelView.choose(state.layer, state.head);
  modelView.show(state.row);
  layers.length > 1 && modelView.toggle(!address.includes("h="));
  showShade();
}
show(find("result").textContent, JSON.parse(find("asked").textContent));
