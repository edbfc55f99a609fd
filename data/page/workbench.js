// The computation of the chosen row as a picture: a line for each word, and from left to right what becomes of it. Its key as a strip
// of coloured numbers, below the query; the score and what scale, cap and mask make of it; its exponential, its weight, and its
// value, as pale as the weight is small. What the result does not hold is not shown.

const mostLinesOfBench = 12;
const mostStripCells = 1024;
const onPhone = matchMedia("(max-width: 600px)"); // there is room for one step, and the weights

/// The largest size of numbers, for colours and bars; 1 where all are 0.
const largestSize = (values) => values.reduce((most, x) => (Number.isFinite(x) && Math.abs(x) > most ? Math.abs(x) : most), 0) || 1;
const sizesOf = once(() => []);
/// That of a head's queries, keys or values.
function sizeOf(array, head) {
  const [, length, width] = array.shape;
  return (sizesOf(array)[head] ??= largestSize(array.values.subarray(head * length * width, (head + 1) * length * width)));
}

const shownOf = (vector) => Math.min(vector.length, mostStripCells);

/// A vector as a strip of coloured cells, or as signed bars. With a label it is a slider along its numbers.
function strip(vector, most, side, { bars = false, label } = {}) {
  const shown = shownOf(vector);
  const cell = bars ? Math.max(Math.floor(480 / shown), 1) : 1;
  const canvas = element("canvas", { "aria-hidden": "true", width: shown * cell, height: bars ? 80 : 1 });
  const pencil = canvas.getContext("2d");
  for (let i = 0; i < shown; ++i) {
    const share = vector[i] / most;
    pencil.fillStyle = `rgb(${signedColour(bars ? Math.sign(share) * 0.8 : share).join(", ")})`;
    const height = bars ? Math.min(Math.abs(share), 1) * 40 : 1;
    const gap = bars && cell > 4 ? 2 : 0;
    pencil.fillRect(i * cell, bars ? (share > 0 ? 40 - height : 40) : 0, cell - gap, bars ? Math.max(height, 1) : 1);
  }
  const slider = label && { role: "slider", tabindex: "0", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": shown - 1, "aria-valuenow": 0 };
  return Object.assign(element("div", { class: bars ? "strip-box bars" : "strip-box", "data-side": side, ...slider }, canvas), { vector });
}

/// Four digits after the point where they fit; as a power of ten, two.
function benchNumber(x) {
  const size = Math.abs(x);
  if (!Number.isFinite(x) || x === 0 || (size >= 1e-4 && size < 1000)) {
    return number(x);
  }
  return (size >= 1000 && size < 1e6 ? x.toFixed(1) : x.toExponential(2)).replace(/-/g, "−");
}

/// The columns of numbers: name, the step whose table has them, the numbers, and how long a bar is: of scores all on one scale, so that
/// they show what scaling does.
function columnsOf(cell) {
  const most = Math.max(...["scores", "scaled", "capped", "masked"].map((name) => (cell[name] ? largestSize(cell[name]) : 0)));
  const ofMost = (x) => (Number.isFinite(x) ? x / most : 0);
  const scale = scaleOf(cell.head, cell.row);
  const ofScale = (x) => shareOf(x, scale);
  const shares = { exp: (x) => x, weight: ofScale, kept: ofScale };
  return kinds.flatMap(({ columns = {} }, step) => Object.entries(columns).filter(([, from]) => cell[from])
    .map(([name, from]) => ({ name, step, values: cell[from], share: shares[name] ?? ofMost })));
}

/// The place of the word in whose line an element stands.
function keyOf(target) {
  const line = target.closest("tr[data-key]");
  return line ? Number(line.dataset.key) : undefined;
}

class Workbench {
  constructor() {
    this.component = null;
    this.rows = find("bench-rows");
    this.rows.addEventListener("click", (event) => {
      const button = event.target.closest("button[data-step]");
      const box = event.target.closest(".strip-box");
      const key = keyOf(event.target);
      if (box) {
        this.over(event); // a finger points at nothing before
        this.openStrip(box, key ?? state.column);
      } else if (button) {
        openTable(Number(button.dataset.step), key ?? state.column);
      } else if (key !== undefined) {
        select(state.row, key);
      }
    });
    const leave = () => {
      this.light(null);
      point(null);
    };
    this.rows.addEventListener("pointermove", (event) => event.pointerType !== "touch" && this.over(event));
    this.rows.addEventListener("pointerleave", leave);
    this.rows.addEventListener("focusout", leave);
    this.rows.addEventListener("focusin", ({ target }) => {
      const { side } = target.closest(".strip-box[role=slider]")?.dataset ?? {};
      const key = keyOf(target);
      if (side) {
        this.light({ side, i: this.component?.side === side ? this.component.i : 0 });
      } else if (key !== undefined) {
        point({ row: state.row, column: key });
      }
    });
    listenToKeys(this.rows, (event) => this.walk(event));
  }

  /// The table of a number of a strip: of the query where it comes from, otherwise where it goes.
  openStrip(box, column) {
    component = this.component?.i ?? 0;
    const ofQuery = box.closest(".of-query") && stepOf(queryStep) >= 0;
    openTable(stepOf(box.dataset.side === "v" ? mixStep : ofQuery ? queryStep : compareStep), column);
  }

  /// The pointer lies over a component of a vector, or over a word's line.
  over({ target, clientX }) {
    const key = keyOf(target);
    if (key !== state.pointed?.column) {
      point(key === undefined ? null : { row: state.row, column: key });
    }
    const box = target.closest(".strip-box");
    if (!box) {
      return this.light(null);
    }
    const { left, width } = box.getBoundingClientRect();
    const count = shownOf(box.vector);
    this.light({ side: box.dataset.side, i: Math.min(Math.max(Math.floor(((clientX - left) / width) * count), 0), count - 1), key });
  }

  /// Lights component i in every strip of its side, and says what it is; null: none.
  light(component) {
    this.component = component;
    const { style, dataset } = find("bench");
    dataset.pointing = component?.side ?? "";
    if (!component) {
      find("component").textContent = this.hintText;
      return;
    }
    const { side, i, key = state.column } = component;
    const slider = this.rows.querySelector(`.strip-box[role=slider][data-side=${side}]`);
    const count = shownOf(slider.vector);
    style.setProperty("--left", `${(100 * i) / count}%`);
    style.setProperty("--width", `${100 / count}%`);
    find("component").replaceChildren(...(side === "k" ? this.sayProduct(key, i) : this.sayShare(key, i)));
    slider.setAttribute("aria-valuenow", i);
    slider.setAttribute("aria-valuetext", find("component").textContent);
  }

  sayProduct(key, i) {
    const [own, other] = vectors(state.head, state.row);
    const [x, y] = [own[i], other(key)[i]];
    const [a, b] = letters();
    return [a, sub(String(i)), ` × ${b}`, sub(String(i)), " of ", word(result.columns[key]), `: ${number(x)} × ${number(y)} = `, strong(number(result.step(x * y)))];
  }

  sayShare(key, i) {
    const { head, kept, context } = this.cell;
    const w = kept[key];
    const v = rowOf(result.values, keyHead(head, result.values), key)[i];
    return [word(result.columns[key]), `: ${number(w)} × v`, sub(String(i)), ` ${number(v)} = `, strong(number(w === 0 ? 0 : w * v)), "; the context has ", strong(number(context[i]))];
  }

  /// Arrow keys: from number to number, and along the components of a vector.
  walk({ key, target }) {
    const box = target.closest(".strip-box[role=slider]");
    if (box && key === "Enter") {
      return this.openStrip(box, state.column);
    }
    if (box) {
      const i = moved(key, this.component?.i ?? 0, shownOf(box.vector));
      return i === undefined ? false : this.light({ side: box.dataset.side, i });
    }
    const at = this.buttons.indexOf(target);
    const last = this.buttons.length - 1;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - this.across, ArrowDown: at + this.across, Home: 0, End: last }[key];
    if (at < 0 || to === undefined) {
      return false;
    }
    if (to >= 0 && to <= last) {
      rove(this.buttons, to);
      this.buttons[to].focus();
    }
  }

  /// The cell of the picture; `step` is the part of the formula that is lit.
  show(cell, step) {
    this.cell = cell;
    const { head, row, column } = cell;
    const places = keysToShow(cell, mostLinesOfBench, (key) => !isMasked(head, row, key));
    const unseen = result.S - seenKeys(head, row);
    const columns = columnsOf(cell).filter((each) => !onPhone.matches || each.step === step || each.name === "weight");
    this.across = columns.length;
    const focused = this.rows.contains(document.activeElement) ? document.activeElement.dataset.at : undefined;
    const pair = vectors(head, row);
    const ofKeyHead = (array) => sizeOf(array, keyHead(head, array));
    const sizes = { k: pair && Math.max(sizeOf(result.queries, head), ofKeyHead(result.keys)), v: cell.context && ofKeyHead(result.values) };
    this.rows.replaceChildren(this.table(columns, places, pair, sizes, step));
    this.buttons = [...this.rows.querySelectorAll("tbody tr[data-key] button[data-step]")];
    this.buttons.forEach((button, i) => {
      button.dataset.at = i;
    });
    const chosen = Math.max(places.indexOf(column), 0) * this.across + Math.max(columns.findIndex((each) => each.step === step), 0);
    const at = focused === undefined ? chosen : Math.min(Number(focused), this.buttons.length - 1);
    rove(this.buttons, at);
    focused === undefined || this.buttons[at]?.focus({ preventScroll: true });
    this.showFormula(step);
    find("bench-title").replaceChildren("The row of ", queryWord(cell));
    find("bench-note").textContent = places.length < result.S ? `${places.length} of ${result.S} words: the strongest, and the chosen one${unseen > 0 ? `; ${unseen} are masked` : ""}.` : "";
    this.showKey(sizes);
    this.hintText = sizes.k || sizes.v ? "Point at a number of a strip to see it; click a number of the table for its arithmetic." : "Click a number for its arithmetic.";
    this.light(null);
  }

  /// What the colours of the strips stand for.
  showKey({ k, v }) {
    const most = [k && `±${Number(k.toPrecision(3))} (query, key)`, v && `±${Number(v.toPrecision(3))} (value, context)`].filter(Boolean);
    find("strip-key").hidden = most.length === 0;
    find("strip-key").replaceChildren("strips: below 0 ", strip(Float64Array.from({ length: 33 }, (_, i) => i / 16 - 1), 1, null), " above 0; strongest at ", most.join(", "));
  }

  table(columns, places, pair, sizes, step) {
    const { head, row, column, kept, context } = this.cell;
    const [own, other] = pair ?? [];
    const [a, b] = letters();
    const lit = (of) => (of === step ? "lit" : "");
    const scoreAt = columns.find((each) => each.name === "score")?.step ?? -1;
    const mixAt = stepOf(mixStep);
    const of = (name, place) => element("span", {}, name, sub(word(place)));
    const cellOf = (className, ...children) => element("td", { class: className }, ...children);
    const behind = columns.length + (context ? 1 : 0); // cells after the first strip
    const heads = [element("th", { scope: "col", class: "of-word", text: "word" }),
      pair && element("th", { scope: "col", class: `of-strip ${lit(scoreAt)}`, text: isSwapped() ? "query" : "key" }),
      ...columns.map((each) => element("th", { scope: "col", class: `of-number ${lit(each.step)}`, text: each.name === "exp" ? "exp (s−max)" : each.name })),
      context && element("th", { scope: "col", class: `of-strip ${lit(mixAt)}`, text: "weight × value" })];
    const above = () => {
      const products = Float64Array.from(own, (x, i) => result.step(x * other(column)[i]));
      const sum = this.cell.scores ? [`Σ${addedTo(head, row, column)} = `, strong(benchNumber(this.cell.scores[column]))] : [];
      return [
        element("tr", { class: "of-query" }, element("th", { scope: "row" }, of(a, result.rows[row])),
          cellOf(lit(scoreAt) || lit(stepOf(queryStep)), strip(own, sizes.k, "k", { label: "Numbers of the query and the key" })), ...Array.from({ length: behind }, () => element("td"))),
        element("tr", { class: "of-products" }, element("th", { scope: "row" }, "× ", of(b, result.columns[column])),
          cellOf(lit(scoreAt), strip(products, largestSize(products), "k", { bars: true })), columns.length === 0 ? null : element("td", { class: "sum", colspan: behind }, ...sum)),
      ];
    };
    const scale = scaleOf(head, row);
    const lines = places.map((place) => {
      const changed = isChanged(head, row, place, (...cell) => benchNumber(weight(...cell)));
      const value = context && strip(rowOf(result.values, keyHead(head, result.values), place), sizes.v, "v");
      if (value) {
        value.style.opacity = String(0.15 + 0.85 * shareOf(kept[place], scale));
      }
      return element("tr", { "data-key": place, class: `${place === column ? "current" : ""} ${isMasked(head, row, place) ? "unseen-word" : ""}` },
        element("th", { scope: "row", title: visible(result.columns[place]) }, wordAt(result.columns, place)),
        pair && cellOf(lit(scoreAt), strip(other(place), sizes.k, "k")),
        ...columns.map((each) => this.number(each, place, lit(each.step), changed && each.name === "weight")),
        value && cellOf(lit(mixAt), value));
    });
    const below = () => element("tr", { class: "of-context" }, element("th", { scope: "row", colspan: 1 + columns.length + (pair ? 1 : 0) }, "Σ weight × value = context of ", word(result.rows[row])),
      cellOf(lit(mixAt), strip(context, sizes.v, "v", { label: "Numbers of the values and the context" })));
    return element("table", { class: `bench-table ${places.length <= 8 ? "few" : ""} ${columns.length > 5 ? "narrow" : ""}` }, element("thead", {}, element("tr", {}, ...heads)),
      element("tbody", {}, ...(pair ? above() : []), ...lines, context && below()));
  }

  /// A number that leads to its table, above a bar.
  number({ name, step, values, share }, place, className, changed) {
    const value = values[place];
    const hidden = value === -Infinity;
    const part = share(value);
    const signed = values.some((x) => x < 0 && x !== -Infinity);
    const long = Math.abs(part) * (signed ? 50 : 100);
    const bar = element("span", { class: part < 0 ? "bench-bar negative" : "bench-bar",
      style: { minWidth: part === 0 || hidden ? "0" : "1px", width: `${long}%`, insetInlineStart: signed ? `${part < 0 ? 50 - long : 50}%` : "0" } });
    const text = hidden ? masked : benchNumber(value);
    const label = `${name} of ${visible(result.columns[place])}: ${text}`;
    return element("td", { class: `of-number ${className} ${name === "weight" ? "of-weight" : ""} ${changed ? "changed" : ""}` },
      element("button", { type: "button", "data-step": step, "data-name": name, class: hidden ? "hidden-number" : "", "aria-label": label, value: String(value) },
        element("span", { class: "number", text }), element("span", { class: signed ? "bench-track signed" : "bench-track" }, bar)));
  }

  /// softmax(Q·Kᵀ / √d_k + mask) · V, each part a button.
  showFormula(step) {
    const before = [];
    let line = [];
    kinds.forEach(({ name, symbol, sign, before: isBefore }, at) => {
      const said = { "aria-pressed": String(at === step), "aria-label": `Step ${at + 1}: ${name}` };
      const button = element("button", { type: "button", class: "symbol", ...said, onclick: () => update({ step: at }) }, ...typeset(symbol));
      if (isBefore) {
        before.push(button, " → ");
      } else {
        line = sign === undefined ? [button, "( ", ...line, " )"] : [...line, sign, button];
      }
    });
    find("formula-line").replaceChildren(...before, ...line);
  }
}
