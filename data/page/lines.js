// The weights of one head as lines between two columns of words, thick where the weight is large.

const lineRow = () => Math.min(Math.max(520 / Math.max(result.T, result.S), 22), 64); // pixels from one word to the next
const mostLines = () => Math.min(6 * Math.max(result.T, result.S), 1500); // more would hide each other
const leastShare = 0.02; // of the scale; thinner lines are left out

class Lines {
  constructor(root, { onPoint, onSelect }) {
    Object.assign(this, { root, onPoint, onSelect });
    const make = (name, attributes = {}) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
      return made;
    };
    this.make = make;
    this.all = make("g", { class: "all" });
    this.own = make("g", { class: "own" });
    this.svg = make("svg", { "aria-hidden": "true" });
    this.svg.append(this.all, this.own);
    this.space = element("div", { class: "line-space" });
    this.scroller = element("div", { class: "line-scroller" }, this.space);
    root.append(this.scroller);
    new ResizeObserver(() => this.draw()).observe(root);
  }

  /// Another result, of which the head and the place are still to be told.
  fill() {
    Object.assign(this, { head: 0, row: 0, column: 0, pointed: null, pitch: lineRow() });
    this.left = this.listOf(result.rows, "asking", "rows");
    this.right = this.listOf(result.columns, "asked", "columns");
    this.space.replaceChildren(this.left, this.svg, this.right);
    this.all.replaceChildren();
    this.own.replaceChildren();
  }

  /// A column of words, one of which can be reached with Tab.
  listOf(words, className, side) {
    const buttons = words.map((_, place) => element("button", { type: "button", tabindex: "-1" }, wordAt(words, place)));
    const list = element("div", { class: `words ${className}`, role: "toolbar", "aria-orientation": "vertical",
      "aria-label": sideName(side, "Words that attend", "Words that are attended to") }, ...buttons);
    const place = (target) => buttons.indexOf(target.closest("button"));
    const choose = (at) => (side === "rows" ? this.onSelect(at, this.column) : this.onSelect(this.row, at));
    list.addEventListener("click", (event) => place(event.target) >= 0 && choose(place(event.target)));
    list.addEventListener("pointerover", (event) => {
      const at = place(event.target);
      if (at >= 0 && event.pointerType !== "touch") {
        this.point(side === "rows" ? { row: at } : { column: at });
      }
    });
    list.addEventListener("pointerleave", () => this.point(null));
    list.addEventListener("keydown", (event) => {
      const at = moved(event.key, place(event.target), buttons.length, ["ArrowUp"], ["ArrowDown"]);
      const [toKeys, toQueries] = mirrored ? ["ArrowLeft", "ArrowRight"] : ["ArrowRight", "ArrowLeft"];
      const other = event.key === toKeys && side === "rows" ? this.right : event.key === toQueries && side !== "rows" ? this.left : null;
      if (at !== undefined) {
        choose(at);
        buttons[at].focus();
      } else if (other) {
        other.buttons[side === "rows" ? this.column : this.row].focus();
      } else {
        return;
      }
      event.preventDefault();
    });
    list.buttons = buttons;
    return list;
  }

  point(place) {
    this.pointed = place;
    this.onPoint(place?.row === undefined ? place : { row: place.row, column: this.column });
    this.drawOwn();
  }

  setHead(head) {
    this.head = head;
    this.draw();
  }

  select(row, column) {
    this.row = row;
    this.column = column;
    this.reveal();
    this.drawOwn();
  }

  /// Scrolls to the chosen word.
  reveal() {
    if (this.root.hidden) {
      return; // a question about its size would lay out the whole page
    }
    const { scrollTop, clientHeight } = this.scroller;
    const top = this.row * this.pitch;
    if (top < scrollTop || top + this.pitch > scrollTop + clientHeight) {
      this.scroller.scrollTop = top - (clientHeight - this.pitch) / 2;
    }
  }

  /// 0 … 1, as thick as the line is.
  share(row, column) {
    return shareOf(weight(this.head, row, column), scaleOf(this.head, row));
  }

  line(row, column) {
    const share = this.share(row, column);
    const [from, to, width] = [(row + 0.5) * this.pitch, (column + 0.5) * this.pitch, this.width];
    const bend = width * 0.45;
    return this.make("path", {
      d: `M0 ${from} C${bend} ${from} ${width - bend} ${to} ${width} ${to}`,
      "stroke-width": (0.6 + 7 * share).toFixed(2),
      "stroke-opacity": (0.15 + 0.75 * share).toFixed(3),
    });
  }

  draw() {
    if (this.root.hidden) {
      return;
    }
    const buttons = [...this.left.buttons, ...this.right.buttons];
    const setPitch = (pixels) => this.root.style.setProperty("--line-row", `${(this.pitch = pixels)}px`);
    setPitch(lineRow());
    setPitch(buttons.reduce((most, button) => Math.max(most, button.offsetHeight), 0)); // all are as high as the longest word
    this.svg.setAttribute("height", Math.max(result.T, result.S) * this.pitch);
    this.width = Math.max(this.svg.parentElement.clientWidth - this.left.offsetWidth - this.right.offsetWidth, 60);
    this.svg.setAttribute("width", this.width);
    const shares = new Float32Array(result.T * result.S);
    for (let row = 0; row < result.T; ++row) {
      const scale = scaleOf(this.head, row);
      rowOf(result.weights, this.head, row).forEach((w, column) => {
        shares[row * result.S + column] = shareOf(w, scale);
      });
    }
    const shown = strongestAbove(shares, mostLines(), leastShare);
    this.all.replaceChildren(...shown.map((i) => this.line(Math.floor(i / result.S), i % result.S)));
    this.drawOwn();
  }

  /// The lines of the word below the pointer, or of the selected one, before all others.
  drawOwn() {
    if (this.root.hidden || !this.width) {
      return;
    }
    const place = this.pointed ?? { row: this.row };
    const byColumn = place.row === undefined;
    const count = byColumn ? result.T : result.S;
    const others = Array.from({ length: count }, (_, i) => (byColumn ? [i, place.column] : [place.row, i]));
    const own = others.filter(([row, column]) => this.share(row, column) >= leastShare);
    this.own.replaceChildren(...own.map(([row, column]) => this.line(row, column)));
    const mark = (list, current, chosen) => {
      rove(list.buttons, chosen);
      list.buttons.forEach((button, i) => {
        button.classList.toggle("current", i === current);
        button.setAttribute("aria-pressed", String(i === chosen));
      });
    };
    mark(this.left, byColumn ? -1 : place.row, this.row);
    mark(this.right, byColumn ? place.column : this.column, this.column);
  }
}

/// The places of the largest of `values`, at most `count`, that reach `least`; unordered.
function strongestAbove(values, count, least) {
  const places = [];
  for (let i = 0; i < values.length; ++i) {
    if (values[i] >= least) {
      places.push(i);
    }
  }
  return places.length <= count ? places : places.sort((a, b) => values[b] - values[a]).slice(0, count);
}
