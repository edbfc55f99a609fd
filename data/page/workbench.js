// The computation of the chosen row as a picture: a line for each word, and from left to right what becomes of it. Its key as a strip
// of coloured numbers, below the query; the score and what scale, cap and mask make of it; its exponential, its weight, and its
// value, as pale as the weight is small. What the result does not hold is not shown.

const mostLinesOfBench = 12;
const mostStripCells = 1024;
const onPhone = matchMedia("(max-width: 600px)"); // there is room for one step, and the weights

/// The words of a row that are shown: all, or the strongest and the chosen one, in the order of the sentence.
function wordsToShow(head, row, column) {
  if (result.S <= mostLinesOfBench) {
    return { places: result.columns.map((_, i) => i), note: "" };
  }
  const places = new Set([column]);
  for (const place of strongest(rowOf(result.weights, head, row), mostLinesOfBench)) {
    if (places.size < mostLinesOfBench && !isMasked(head, row, place)) {
      places.add(place);
    }
  }
  const unseen = result.S - seenKeys(head, row);
  return { places: [...places].sort((a, b) => a - b), note: `${places.size} of ${result.S} words: the strongest, and the chosen one${unseen > 0 ? `; ${unseen} are masked` : ""}.` };
}

/// The largest size of numbers, for colours and bars; 1 where all are 0.
const largestSize = (values) => values.reduce((most, x) => (Number.isFinite(x) && Math.abs(x) > most ? Math.abs(x) : most), 0) || 1;
const sizesOf = once(() => []);
/// That of a head's queries, keys or values.
function sizeOf(array, head) {
  const [, length, width] = array.shape;
  return (sizesOf(array)[head] ??= largestSize(array.values.subarray(head * length * width, (head + 1) * length * width)));
}

/// A vector as a strip of coloured cells, or as signed bars.
function strip(vector, most, side, bars = false) {
  const canvas = element("canvas", { "aria-hidden": "true" });
  const shown = Math.min(vector.length, mostStripCells);
  const cell = bars ? Math.max(Math.floor(480 / shown), 1) : 1;
  canvas.width = shown * cell;
  canvas.height = bars ? 80 : 1;
  const pencil = canvas.getContext("2d");
  for (let i = 0; i < shown; ++i) {
    const share = vector[i] / most;
    pencil.fillStyle = `rgb(${signedColour(bars ? Math.sign(share) * 0.8 : share).join(", ")})`;
    const height = bars ? Math.min(Math.abs(share), 1) * 40 : 1;
    const gap = bars && cell > 4 ? 2 : 0;
    pencil.fillRect(i * cell, bars ? (share > 0 ? 40 - height : 40) : 0, cell - gap, bars ? Math.max(height, 1) : 1);
  }
  const made = element("div", { class: bars ? "strip-box bars" : "strip-box", "data-side": side }, canvas);
  made.vector = vector;
  return made;
}

/// Four digits after the point where they fit; as a power of ten, two.
function benchNumber(x) {
  const size = Math.abs(x);
  if (!Number.isFinite(x) || x === 0 || (size >= 1e-4 && size < 1000)) {
    return number(x);
  }
  return (size >= 1000 && size < 1e6 ? x.toFixed(1) : x.toExponential(2)).replace(/-/g, "−");
}

class Workbench {
  constructor({ onSelect, onPoint, onStep, onTable }) {
    Object.assign(this, { onSelect, onPoint, onStep, onTable, component: null });
    this.root = find("bench");
    this.rows = find("bench-rows");
    this.rows.addEventListener("click", (event) => {
      const button = event.target.closest("button[data-step]");
      const line = event.target.closest("tr[data-key]");
      const box = event.target.closest(".strip-box");
      if (box) {
        this.over(event); // a finger points at nothing before
        this.openStrip(box, line ? Number(line.dataset.key) : this.cell.column);
      } else if (button) {
        this.onTable(Number(button.dataset.step), line ? Number(line.dataset.key) : this.cell.column);
      } else if (line) {
        this.onSelect(this.cell.row, Number(line.dataset.key));
      }
    });
    this.rows.addEventListener("pointermove", (event) => event.pointerType !== "touch" && this.over(event));
    this.rows.addEventListener("pointerleave", () => {
      this.light(null);
      this.onPoint(null);
    });
    this.rows.addEventListener("keydown", (event) => this.walk(event));
    this.rows.addEventListener("focusin", (event) => {
      const box = event.target.closest(".strip-box[role=slider]");
      const line = event.target.closest("tr[data-key]");
      if (box) {
        this.light({ side: box.dataset.side, i: this.component?.side === box.dataset.side ? this.component.i : 0 });
      } else if (line) {
        this.onPoint({ row: this.cell.row, column: Number(line.dataset.key) });
      }
    });
    this.rows.addEventListener("focusout", () => {
      this.light(null);
      this.onPoint(null);
    });
  }

  /// The table of a number of a strip: of the query where it comes from, otherwise where it goes.
  openStrip(box, column) {
    component = this.component?.i ?? 0;
    const ofQuery = box.closest(".of-query") && stepOf(queryStep) >= 0;
    this.onTable(stepOf(box.dataset.side === "v" ? mixStep : ofQuery ? queryStep : scoreStep().make), column);
  }

  /// The pointer lies over a component of a vector, or over a word's line.
  over(event) {
    const line = event.target.closest("tr[data-key]");
    const key = line ? Number(line.dataset.key) : undefined;
    if (key !== this.over.key) {
      this.over.key = key;
      this.onPoint(line ? { row: this.cell.row, column: key } : null);
    }
    const box = event.target.closest(".strip-box");
    if (!box) {
      return this.light(null);
    }
    const { left, width } = box.getBoundingClientRect();
    const count = Math.min(box.vector.length, mostStripCells);
    this.light({ side: box.dataset.side, i: Math.min(Math.max(Math.floor(((event.clientX - left) / width) * count), 0), count - 1), key });
  }

  /// Lights component i in every strip of its side, and says what it is; null: none.
  light(component) {
    this.component = component;
    const { style, dataset } = this.root;
    dataset.pointing = component?.side ?? "";
    const { head, row, column } = this.cell;
    if (!component) {
      find("component").textContent = this.hintText;
      return;
    }
    const { side, i } = component;
    const place = component.key ?? column;
    const count = Math.min(this.widths[side], mostStripCells);
    style.setProperty("--left", `${(100 * i) / count}%`);
    style.setProperty("--width", `${100 / count}%`);
    const said = side === "k" ? this.sayProduct(head, row, place, i) : this.sayShare(head, row, place, i);
    find("component").replaceChildren(...said);
    const slider = this.rows.querySelector(`.strip-box[role=slider][data-side=${side}]`);
    slider.setAttribute("aria-valuenow", i);
    slider.setAttribute("aria-valuetext", find("component").textContent);
  }

  sayProduct(head, row, place, i) {
    const [q, k] = vectors(head, row, place);
    const [a, b] = result.attention.scores === "KQ" ? ["k", "q"] : ["q", "k"];
    return [`${a}`, sub(String(i)), ` × ${b}`, sub(String(i)), " of ", word(result.columns[place]), `: ${number(q[i])} × ${number(k[i])} = `, strong(number(result.step(q[i] * k[i])))];
  }

  sayShare(head, row, place, i) {
    const w = sharesOfRow(head, row)[place];
    const v = rowOf(result.values, keyHead(head, result.values), place)[i];
    return [word(result.columns[place]), `: ${number(w)} × v`, sub(String(i)), ` ${number(v)} = `, strong(number(w === 0 ? 0 : w * v)), "; the context has ", strong(number(contextOfRow(head, row)[i]))];
  }

  /// Arrow keys: from number to number, and along the components of a vector.
  walk(event) {
    const box = event.target.closest(".strip-box[role=slider]");
    if (box) {
      const count = Math.min(box.vector.length, mostStripCells);
      const i = moved(event.key, this.component?.i ?? 0, count);
      if (event.key === "Enter") {
        event.preventDefault();
        this.openStrip(box, this.cell.column);
      } else if (i !== undefined) {
        event.preventDefault();
        this.light({ side: box.dataset.side, i });
      }
      return;
    }
    const at = this.buttons.indexOf(event.target);
    if (at < 0) {
      return;
    }
    const across = this.across;
    const last = this.buttons.length - 1;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - across, ArrowDown: at + across, Home: 0, End: last }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      if (to >= 0 && to <= last) {
        rove(this.buttons, to);
        this.buttons[to].focus();
      }
    }
  }

  /// The columns of numbers: name, the step whose table has them, the numbers, and how long a bar is.
  columnsOf({ head, row, stages }) {
    const scores = [stages.scores, stages.scaled, stages.capped, stages.masked].filter(Boolean);
    const most = scores.flatMap((values) => [...values]).reduce((size, x) => (Number.isFinite(x) && Math.abs(x) > size ? Math.abs(x) : size), 0) || 1;
    const ofMost = (x) => (Number.isFinite(x) ? x / most : 0); // one scale, so that bars show what scaling does
    const weights = rowOf(result.weights, head, row);
    const scale = scaleOf(head, row);
    const made = [];
    const add = (name, make, values, share = ofMost) => values && stepOf(make) >= 0 && made.push({ name, step: stepOf(make), values, share });
    add("score", scoreStep().make, stages.scores);
    const mask = () => hasMask() && add(addsByDistance() ? "biased" : "masked", maskStep, stages.masked);
    masksFirst() && mask();
    add("scaled", scaleStep, stages.scaled);
    add("capped", capStep, result.attention.softcap === undefined ? null : stages.capped);
    masksFirst() || mask();
    const { largest, powers } = stages.last ? softmaxTerms(stages.last) : { largest: -Infinity };
    add("exp", softmaxStep, largest === -Infinity ? null : powers, (x) => x);
    add("weight", softmaxStep, weights, (x) => shareOf(x, scale));
    const left = result.attention.dropout && sharesOfRow(head, row);
    add("kept", dropoutStep, left, (x) => shareOf(x, scale));
    return made;
  }

  /// The cell of the picture; `step` is the part of the formula that is lit.
  show(head, row, column, step) {
    const stages = stagesOfRow(head, row);
    this.cell = { head, row, column, stages };
    this.showFormula(step);
    const pair = multiplies() && vectors(head, row, column);
    const values = result.values && sharesOfRow(head, row) && result.values;
    const columns = this.columnsOf(this.cell).filter((each) => !onPhone.matches || each.step === step || each.name === "weight");
    const { places, note } = wordsToShow(head, row, column);
    this.widths = { k: pair ? pair[0].length : 0, v: values ? values.shape[2] : 0 };
    this.across = columns.length;
    const focused = this.rows.contains(document.activeElement) ? document.activeElement.dataset.at : undefined;
    this.rows.replaceChildren(this.table(columns, places, pair, values, step));
    this.buttons = [...this.rows.querySelectorAll("tbody tr[data-key] button[data-step]")];
    this.buttons.forEach((button, i) => {
      button.dataset.at = i;
    });
    const chosen = Math.max(places.indexOf(column), 0) * this.across + Math.max(columns.findIndex((each) => each.step === step), 0);
    rove(this.buttons, focused === undefined ? chosen : Math.min(Number(focused), this.buttons.length - 1));
    if (focused !== undefined) {
      this.buttons[Math.min(Number(focused), this.buttons.length - 1)]?.focus({ preventScroll: true });
    }
    find("bench-title").replaceChildren("The row of ", wordAt(result.rows, row));
    find("bench-note").textContent = note;
    this.showKey(head, pair, values);
    this.hintText = pair || values ? "Point at a number of a strip to see it; click a number of the table for its arithmetic." : "Click a number for its arithmetic.";
    this.light(null);
  }

  /// What the colours of the strips stand for.
  showKey(head, pair, values) {
    const most = [pair && ["query, key", this.mostOfKeys(head)], values && ["value, context", sizeOf(values, keyHead(head, values))]].filter(Boolean);
    const bar = strip(Float64Array.from({ length: 33 }, (_, i) => i / 16 - 1), 1, "");
    bar.removeAttribute("data-side");
    find("strip-key").hidden = most.length === 0;
    find("strip-key").replaceChildren("strips: below 0 ", bar, " above 0; strongest at ", most.map(([name, size]) => `±${Number(size.toPrecision(3))} (${name})`).join(", "));
  }

  mostOfKeys(head) {
    return Math.max(sizeOf(result.queries, head), sizeOf(result.keys, keyHead(head, result.keys)));
  }

  table(columns, places, pair, values, step) {
    const { head, row, column, stages } = this.cell;
    const swapped = result.attention.scores === "KQ";
    const [a, b] = swapped ? ["k", "q"] : ["q", "k"];
    const lit = (of) => (of === step ? "lit" : "");
    const scoreAt = columns.find((each) => each.name === "score")?.step ?? -1;
    const mixAt = stepOf(mixStep);
    const of = (name, place) => element("span", {}, name, sub(word(place)));
    const blanks = (count) => Array.from({ length: count }, () => element("td"));
    const slider = (box, label) => {
      const attributes = { role: "slider", tabindex: "0", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": Math.min(box.vector.length, mostStripCells) - 1, "aria-valuenow": 0 };
      Object.entries(attributes).forEach(([key, value]) => box.setAttribute(key, value));
      return box;
    };
    const mostOfKeys = pair ? this.mostOfKeys(head) : 1;
    const mostOfValues = values ? sizeOf(values, keyHead(head, values)) : 1;
    const heads = [element("th", { scope: "col", class: "of-word", text: "word" }),
      pair ? element("th", { scope: "col", class: `of-strip ${lit(scoreAt)}`, text: swapped ? "query" : "key" }) : null,
      ...columns.map((each) => element("th", { scope: "col", class: `of-number ${lit(each.step)}`, text: each.name === "exp" ? "exp (s−max)" : each.name })),
      values ? element("th", { scope: "col", class: `of-strip ${lit(mixAt)}`, text: "weight × value" }) : null];
    const above = [];
    if (pair) {
      const products = Float64Array.from(pair[0], (x, i) => result.step(x * pair[1][i]));
      const most = products.reduce((size, x) => Math.max(size, Math.abs(x)), 0) || 1;
      above.push(
        element("tr", { class: "of-query" }, element("th", { scope: "row" }, of(a, result.rows[row])), element("td", { class: lit(scoreAt) || lit(stepOf(queryStep)) }, slider(strip(pair[0], mostOfKeys, "k"), "Numbers of the query and the key")), ...blanks(columns.length + (values ? 1 : 0))),
        element("tr", { class: "of-products" }, element("th", { scope: "row" }, "× ", of(b, result.columns[column])), element("td", { class: lit(scoreAt) }, strip(products, most, "k", true)),
          columns.length === 0 ? null : element("td", { class: "sum", colspan: columns.length + (values ? 1 : 0) }, ...(stages.scores ? [`Σ${addedTo(head, row, column)} = `, strong(benchNumber(stages.scores[column]))] : []))));
    }
    const shares = values && sharesOfRow(head, row);
    const scale = scaleOf(head, row);
    const lines = places.map((place) => {
      const seen = !isMasked(head, row, place);
      const changed = isChanged(head, row, place, (...cell) => benchNumber(weight(...cell)));
      const cells = columns.map((each) => this.number(each, place, lit(each.step), changed && each.name === "weight"));
      const key = pair ? element("td", { class: lit(scoreAt) }, strip(vectors(head, row, place)[1], mostOfKeys, "k")) : null;
      const value = values ? element("td", { class: lit(mixAt) }, strip(rowOf(values, keyHead(head, values), place), mostOfValues, "v")) : null;
      if (value) {
        value.firstChild.style.opacity = String(0.15 + 0.85 * shareOf(shares[place], scale));
      }
      return element("tr", { "data-key": place, class: `${place === column ? "current" : ""} ${seen ? "" : "unseen-word"}` },
        element("th", { scope: "row", title: visible(result.columns[place]) }, wordAt(result.columns, place)), key, ...cells, value);
    });
    const below = values ? [element("tr", { class: "of-context" }, element("th", { scope: "row", colspan: 1 + columns.length + (pair ? 1 : 0) }, "Σ weight × value = context of ", word(result.rows[row])),
      element("td", { class: lit(mixAt) }, slider(strip(contextOfRow(head, row), mostOfValues, "v"), "Numbers of the values and the context")))] : [];
    return element("table", { class: `bench-table ${places.length <= 8 ? "few" : ""} ${columns.length > 5 ? "narrow" : ""}` }, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...above, ...lines, ...below));
  }

  /// A number that leads to its table, above a bar.
  number({ name, step, values, share }, place, className, changed) {
    const value = values[place];
    const hidden = value === -Infinity;
    const part = share(value);
    const bar = element("span", { class: part < 0 ? "bench-bar negative" : "bench-bar" });
    const signed = this.hasNegative(values);
    bar.style.minWidth = part === 0 || hidden ? "0" : "1px";
    bar.style.width = `${Math.abs(part) * (signed ? 50 : 100)}%`;
    bar.style.insetInlineStart = signed ? `${part < 0 ? 50 - 50 * Math.abs(part) : 50}%` : "0";
    const text = hidden ? masked : benchNumber(value);
    const button = element("button", { type: "button", "data-step": step, "data-name": name, class: hidden ? "hidden-number" : "", "aria-label": `${name} of ${visible(result.columns[place])}: ${text}` },
      element("span", { class: "number", text }), element("span", { class: signed ? "bench-track signed" : "bench-track" }, bar));
    button.value = String(value);
    return element("td", { class: `of-number ${className} ${name === "weight" ? "of-weight" : ""} ${changed ? "changed" : ""}` }, button);
  }

  hasNegative(values) {
    return values.some((x) => x < 0 && x !== -Infinity);
  }

  /// softmax(Q·Kᵀ / √d_k + mask) · V, each part a button.
  showFormula(step) {
    const symbol = (make, ...text) => {
      const at = stepOf(make);
      const button = element("button", { type: "button", class: "symbol", "aria-pressed": String(at === step), "aria-label": `Step ${at + 1}: ${kinds[at].name}` }, ...text);
      button.addEventListener("click", () => this.onStep(at));
      return button;
    };
    const has = (make) => stepOf(make) >= 0;
    const temperature = change?.temperature ?? 1;
    const divisor = temperature === 1 ? [] : [" · ", String(temperature)];
    const scaling = () => (!has(scaleStep) ? [] : dividesByRoot() ? [" / ", symbol(scaleStep, "√d", sub("k"), ...divisor)] : [" · ", symbol(scaleStep, result.attention.scale === "none" ? "1" : number(scaleFactor()))]);
    const masking = () => (has(maskStep) ? [" + ", symbol(maskStep, addsByDistance() ? "bias" : "mask")] : []);
    const product = result.attention.scores === "KQ" ? ["K", "Q"] : ["Q", "K"];
    let inner = [symbol(scoreStep().make, ...(multiplies() ? [product[0], product[1], element("sup", { text: "T" })] : [scoreStep().name]))];
    inner.push(...(masksFirst() ? [...masking(), ...scaling()] : scaling()));
    if (has(capStep)) {
      inner = [symbol(capStep, "cap"), "( ", ...inner, " )"];
    }
    inner.push(...(masksFirst() ? [] : masking()));
    let outer = [symbol(softmaxStep, "softmax"), "( ", ...inner, " )"];
    if (has(dropoutStep)) {
      outer = [symbol(dropoutStep, "dropout"), "( ", ...outer, " )"];
    }
    const before = has(queryStep) ? [symbol(vectorStep, "x"), " → ", symbol(queryStep, "W", sub("q"), "x"), " → "] : [];
    find("formula-line").replaceChildren(...before, ...outer, " · ", symbol(mixStep, "V"), ...(has(outputStep) ? [" · ", symbol(outputStep, "W", sub("o"))] : []));
  }

  /// Marks the line of a word, whoever points at it.
  mark(place) {
    this.rows.querySelectorAll("tr[data-key]").forEach((line) => line.classList.toggle("marked", Number(line.dataset.key) === place));
  }
}
