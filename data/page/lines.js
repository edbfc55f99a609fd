// The weights of one head as lines between two columns of words, thick where the weight is large.

const lineRow = () => Math.min(Math.max(520 / Math.max(result.T, result.S), 22), 64); // pixels from one word to the next
const mostLines = () => Math.min(6 * Math.max(result.T, result.S), 1500); // more would hide each other
const leastShare = 0.02; // of the scale; thinner lines are left out

class Lines {
  constructor() {
    this.pointed = null; // among these words
    this.root = find("lines");
    [this.scroller, this.svg, this.all, this.own, this.left, this.right] =
      [".line-scroller", "svg", ".all", ".own", ".asking", ".asked"].map((each) => this.root.querySelector(each));
    this.listen(this.left, true);
    this.listen(this.right, false);
    new ResizeObserver(() => this.draw()).observe(this.root);
  }

  /// One word of a column can be reached with Tab; arrow keys lead along it, and to the chosen word of the other one.
  listen(list, isLeft) {
    const choose = (at) => (isLeft ? select(at, state.column) : select(state.row, at));
    const pointAt = (at) => this.point(at === null ? null : isLeft ? { row: at } : { column: at });
    listenToWords(list, choose, pointAt, ["ArrowUp"], ["ArrowDown"]);
    listenToKeys(list, ({ key }) => {
      if (key !== (isLeft === mirrored ? "ArrowLeft" : "ArrowRight")) {
        return false;
      }
      (isLeft ? this.right.children[state.column] : this.left.children[state.row]).focus();
    });
  }

  /// Another result, of which the head and the place are still to be told.
  fill() {
    const put = (list, words, label) => {
      list.setAttribute("aria-label", label);
      list.replaceChildren(...words.map((_, place) => element("button", { type: "button" }, wordAt(words, place))));
    };
    put(this.left, result.rows, sideName("rows", "Words that attend", ""));
    put(this.right, result.columns, sideName("columns", "", "Words that are attended to"));
    this.pointed = null;
    this.all.replaceChildren();
    this.own.replaceChildren();
  }

  point(place) {
    this.pointed = place;
    point(place?.row === undefined ? place : { row: place.row, column: state.column });
    this.drawOwn();
  }

  /// Scrolls to the chosen word.
  reveal() {
    if (this.root.hidden) {
      return; // a question about its size would lay out the whole page
    }
    revealIn(this.scroller, state.row * this.pitch, this.pitch);
  }

  /// 0 … 1, as thick as the line is.
  share(row, column) {
    return shareOf(weight(state.head, row, column), scaleOf(state.head, row));
  }

  line(row, column) {
    const share = this.share(row, column);
    const [from, to, width] = [(row + 0.5) * this.pitch, (column + 0.5) * this.pitch, this.width];
    const bend = width * 0.45;
    return element("path", {
      d: `M0 ${from} C${bend} ${from} ${width - bend} ${to} ${width} ${to}`,
      "stroke-width": (0.6 + 7 * share).toFixed(2),
      "stroke-opacity": (0.15 + 0.75 * share).toFixed(3),
    });
  }

  draw() {
    if (this.root.hidden) {
      return;
    }
    const { T, S } = result;
    const buttons = [...this.left.children, ...this.right.children];
    const setPitch = (pixels) => this.root.style.setProperty("--line-row", `${(this.pitch = pixels)}px`);
    setPitch(lineRow());
    setPitch(buttons.reduce((most, button) => Math.max(most, button.offsetHeight), 0)); // all are as high as the longest word
    this.svg.setAttribute("height", Math.max(T, S) * this.pitch);
    this.width = Math.max(this.svg.parentElement.clientWidth - this.left.offsetWidth - this.right.offsetWidth, 60);
    this.svg.setAttribute("width", this.width);
    const shares = new Float32Array(T * S);
    for (let row = 0; row < T; ++row) {
      const scale = scaleOf(state.head, row);
      shares.set(rowOf(result.weights, state.head, row).map((w) => shareOf(w, scale)), row * S);
    }
    const shown = strongest(shares, mostLines()).filter((i) => shares[i] >= leastShare).sort((one, other) => one - other);
    this.all.replaceChildren(...shown.map((i) => this.line(Math.floor(i / S), i % S)));
    this.drawOwn();
  }

  /// The lines of the word below the pointer, or of the selected one, before all others.
  drawOwn() {
    if (this.root.hidden || !this.width) {
      return;
    }
    const { row, column } = this.pointed ?? { row: state.row };
    const byColumn = row === undefined;
    const others = byColumn ? result.rows.map((_, i) => [i, column]) : result.columns.map((_, i) => [row, i]);
    const own = others.filter((pair) => this.share(...pair) >= leastShare);
    this.own.replaceChildren(...own.map((pair) => this.line(...pair)));
    const mark = (list, current, chosen) => {
      check(list, chosen, "aria-pressed");
      [...list.children].forEach((button, i) => button.classList.toggle("current", i === current));
    };
    mark(this.left, row, state.row);
    mark(this.right, byColumn ? column : state.column, state.column);
  }
}
