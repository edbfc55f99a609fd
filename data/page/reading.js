// In words and numbers: the sentence shaded by what one of its words attends to, that word's list, the strongest pairs, the heads.

/// What a side of the weights does; of other numbers nothing is known but that they have rows and columns.
const sideName = (side, asking, asked) => (areWeights ? (side === "rows" ? asking : asked) : side === "rows" ? "Rows" : "Columns");

const fewChips = 24; // are large, with the positions of words that repeat
const manyChips = 90; // are small

/// The sentence, or two of them, as words that can be chosen.
class Sentences {
  constructor() {
    this.root = find("sentences");
  }

  /// The words of another result.
  fill() {
    const apart = result.cross || result.chosen || isSwapped() || result.S !== result.T;
    this.together = !apart;
    this.chosen = undefined;
    this.rows = this.strip(result.rows, "rows");
    this.columns = apart ? this.strip(result.columns, "columns") : this.rows;
    const named = apart ? [[sideName("rows", "These words attend", ""), this.rows], [sideName("columns", "", "to these"), this.columns]] : [[null, this.rows]];
    this.root.replaceChildren(...named.map(([name, strip]) => element("div", { class: "sentence" }, name && element("p", { class: "name", text: name }), strip)));
    this.root.classList.toggle("long", result.S > fewChips);
    this.root.classList.toggle("very-long", result.S > manyChips);
  }

  strip(words, side) {
    const keyed = side === "columns" || this.together;
    const buttons = words.map((text, place) => element("button", { type: "button", class: "token", "data-key": keyed ? place : null, title: visible(text) },
      word(text), words.length > fewChips ? "" : positionOf(words, place)));
    const isRight = isRightToLeft(words);
    const strip = element("div", { class: "strip", dir: isRight ? "rtl" : "ltr", role: "toolbar", "aria-label": sideName(side, "Words", "Words attended to") }, ...buttons);
    const choose = (at) => (side === "rows" ? select(at, strongestKey(state.head, at)) : select(state.row, at));
    const pointAt = (at) => point(at === null ? null : side === "rows" ? { row: at } : { column: at });
    const [left, right] = isRight ? ["ArrowRight", "ArrowLeft"] : ["ArrowLeft", "ArrowRight"];
    listenToWords(strip, choose, pointAt, [left, "ArrowUp"], [right, "ArrowDown"]);
    return strip;
  }

  /// The row and the key that are marked, which the chosen ones are not where the pointer is elsewhere.
  show(row, column) {
    const { head } = state;
    const scale = scaleOf(head, row);
    [...this.columns.children].forEach((button, i) => {
      const w = weight(head, row, i);
      const none = hasMask() && w === 0 && isMasked(head, row, i);
      const share = shareOf(w, scale);
      button.style.backgroundColor = none ? "" : css(share);
      button.style.color = none ? "" : inkOn(share);
      button.classList.toggle("masked", none);
      button.classList.toggle("changed", isChanged(head, row, i));
      button.classList.toggle("target", i === column);
    });
    [...this.rows.children].forEach((button, i) => button.classList.toggle("current", i === row));
    check(this.rows, state.row, "aria-pressed");
    if (this.columns !== this.rows) {
      rove([...this.columns.children], state.column);
    }
    if (this.chosen !== state.row) {
      this.chosen = state.row;
      requestAnimationFrame(() => { // a question about its place now would lay out the whole page
        const { offsetTop, offsetHeight } = this.rows.children[state.row];
        revealIn(this.rows, offsetTop, offsetHeight); // a long sentence scrolls in its box
      });
    }
  }
}

/// "506 more words together 0.0031, 3 of them masked"
function others(more, hidden, rest) {
  const words = counted(more, "more word");
  const sum = areWeights ? ` together ${number(Math.max(rest, 0))}` : "";
  return hidden >= more ? `${words} masked` : words + sum + (hidden ? `, ${hidden} of them masked` : "");
}

/// How evenly a row attends to the keys that it sees, ln of whose number is the most that an entropy can be.
function entropySentence(head, row, seen) {
  const nats = entropy(head, row);
  return element("p", { class: "entropy" }, "Entropy ", element("strong", { text: number(nats) }),
    seen === 0 ? " nats: it sees no word." : ` of at most ${number(Math.log(seen))} nats: as spread out as ${Math.exp(nats).toFixed(1)} equal shares. The mean of the head’s rows is ${number(meanEntropy(head))}.`);
}

/// What one word attends to, from the most on.
function showRow(row, column) {
  const { head } = state;
  const root = find("row");
  const values = rowOf(result.weights, head, row);
  const places = strongest(values, 10).filter((i) => !isMasked(head, row, i));
  if (column >= 0 && !places.includes(column)) {
    places.splice(Math.min(places.length, 9), 1, column);
  }
  const scale = scaleOf(head, row);
  const rest = values.reduce((sum, w) => sum + w, 0) - places.reduce((sum, i) => sum + values[i], 0);
  const items = places.map((i) => element("li", { class: i === column ? "current" : "", "data-key": i },
    element("span", { class: "what" }, wordAt(result.columns, i)),
    element("span", { class: "bar-track" }, element("span", { class: "bar-fill", style: { width: `${100 * shareOf(values[i], scale)}%` } })),
    element("span", { class: "number", text: isMasked(head, row, i) ? masked : number(values[i]) })));
  const more = result.S - places.length;
  const count = result.S - seenKeys(head, row);
  root.replaceChildren(
    element("h2", {}, areWeights ? "" : "Row ", wordAt(result.rows, row), areWeights ? " attends to" : ""),
    element("ol", { class: "weights" }, ...items),
    more > 0 ? element("p", { class: "rest", text: others(more, count, rest) }) : "",
    areWeights ? entropySentence(head, row, result.S - count) : "");
  const leastHeight = () => Math.max(root.offsetHeight, parseFloat(root.style.minHeight) || 0);
  requestAnimationFrame(() => Object.assign(root.style, { minHeight: `${leastHeight()}px` })); // what stands below stays
}

/// The weights of a head without the rows that see one key alone, whose weight is then 1 whatever the scores are; and how many they are.
function freeWeights(head) {
  const free = weightsOf(head).slice();
  let forced = 0;
  for (let row = 0; areWeights && result.S > 1 && row < result.T; ++row) {
    if (seenKeys(head, row) === 1 && weight(head, row, strongestKey(head, row)) === 1) {
      free.fill(0, row * result.S, (row + 1) * result.S);
      ++forced;
    }
  }
  return { forced, free };
}

/// The strongest pairs of a head, as buttons. A weight of 0 makes no pair.
function showPairs(head) {
  const values = weightsOf(head);
  const { forced, free } = freeWeights(head);
  const role = roleOf(head);
  const places = strongest(free, 8).filter((i) => !areWeights || free[i] > 0);
  find("pairs").replaceChildren(
    element("h2", { text: areWeights ? (result.H > 1 ? `Strongest in ${headText(head)}` : "Strongest pairs") : result.H > 1 ? `Largest in ${headText(head)}` : "Largest numbers" }),
    element("ol", { class: "pairs" }, ...places.map((i) => {
      const [row, column] = [Math.floor(i / result.S), i % result.S];
      const pair = element("span", { class: "pair" }, wordAt(result.rows, row), element("span", { class: "arrow", text: " → " }), wordAt(result.columns, column));
      return element("li", { "data-key": column, "data-query": row },
        element("button", { type: "button", onclick: () => select(row, column) }, pair, element("span", { class: "number", text: number(values[i]) })));
    })),
    places.length === 0 ? element("p", { class: "rest", text: "none" }) : "",
    forced > 0 ? element("p", { class: "rest", text: `Without ${forced === 1 ? "the row that sees" : `the ${forced} rows that see`} one word alone: there the mask says the weight.` }) : "",
    role ? element("p", { class: "entropy" }, element("strong", { text: role.text }), `: ${role.meaning}.`) : "");
}

/// "Layer 5, head 3: previous 0.94, mean entropy 0.5123"; of numbers that are no weights the head alone.
function nameOfHead(head) {
  const role = roleOf(head);
  const name = `${layers.length > 0 ? `layer ${result.layer}, ` : ""}${headText(head)}${role ? `: ${role.text}` : ""}`;
  return name[0].toUpperCase() + name.slice(1) + (areWeights ? `, mean entropy ${number(meanEntropy(head))}` : "");
}

const mostThumbnails = 64;

/// Every head as a small picture; many heads as a list.
class Heads {
  constructor() {
    this.root = find("heads");
    listenToChoice(this.root, (head) => update({ head }));
  }

  /// The heads of this layer; one alone is no choice.
  fill() {
    const many = result.H > mostThumbnails;
    this.root.role = many ? null : "radiogroup";
    this.root.ariaLabel = many ? null : "Head";
    const names = Array.from({ length: result.H > 1 ? result.H : 0 }, (_, head) => nameOfHead(head));
    const choose = ({ target }) => update({ head: Number(target.value) });
    this.list = many ? element("select", { "aria-label": "Head", onchange: choose }, ...names.map((text, value) => element("option", { value, text }))) : null;
    this.buttons = many ? [] : names.map((name, head) => this.thumbnail(name, head));
    this.root.replaceChildren(...(many ? [this.list] : this.buttons));
  }

  thumbnail(name, head) {
    const role = roleOf(head);
    const size = 56 * devicePixelRatio;
    const most = Math.max(result.S, result.T);
    const [width, height] = [result.S, result.T].map((length) => Math.max(Math.round((size * length) / most), 8));
    const canvas = element("canvas", { "aria-hidden": "true", class: mirrored ? "mirrored" : null, width, height });
    const pencil = canvas.getContext("2d");
    pencil.imageSmoothingEnabled = false;
    pencil.drawImage(imageOf(head, Math.min(result.T, height), Math.min(result.S, width)), 0, 0, width, height);
    return element("button", { type: "button", role: "radio", class: "head", "aria-label": name },
      element("span", { class: "frame" }, canvas), element("span", { class: "head-number", text: result.heads[head] }),
      element("span", { class: "head-role", text: role?.header ?? "", title: role?.meaning ?? "" }));
  }

  show(head) {
    if (this.list) {
      this.list.value = head;
    }
    check(this.root, head);
  }
}
