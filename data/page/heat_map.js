// The weights of one head as a grid of colours. Only what can be seen is drawn, so that hundreds of words stay smooth: the grid
// scrolls below a stage that stays where it is, and one element, the cell that has the focus, moves over the canvas.

/// A head as an image of one pixel a weight, or where it has fewer pixels, of the largest weight of each; nothing where all is masked.
function imageOf(head, height = result.T, width = result.S) {
  const canvas = element("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const opaque = new Uint32Array(new Uint8Array(Array.from({ length: 256 }, (_, i) => [...colourOf(i / 255), 255]).flat()).buffer);
  const masks = hasMask();
  const most = new Float64Array(width * height).fill(-1); // shares; −1 where all is masked
  const weights = weightsOf(head);
  for (let row = 0, next = 0; row < result.T; ++row) {
    const start = Math.floor((row * height) / result.T) * width;
    const scale = scaleOf(head, row);
    for (let column = 0; column < result.S; ++column, ++next) {
      const w = weights[next];
      const place = start + Math.floor((column * width) / result.S);
      if (masks && w === 0 && isMasked(head, row, column)) {
        continue;
      }
      const share = shareOf(w, scale);
      if (share > most[place]) {
        most[place] = share;
      }
    }
  }
  most.forEach((share, place) => {
    pixels[place] = share < 0 ? 0 : opaque[colourPlace(share)];
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

/// The digits in a cell; none where it is masked.
const cellText = (head, row, column) => (isMasked(head, row, column) ? "" : shortNumber(weight(head, row, column)));

const mostCell = 64;
const leastZoomed = 4; // pixels; further out or in there is nothing to see
const mostZoomed = 160;
const belowMap = 112; // pixels of the key and what is said of it
const leastMap = 340;

class HeatMap {
  constructor(root, { onPoint, onSelect }) {
    Object.assign(this, { onPoint, onSelect });
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.rowLabels = element("div", { class: "row-labels", "aria-hidden": "true" });
    this.columnLabels = element("div", { class: "column-labels", "aria-hidden": "true" });
    this.cell = element("div", { class: "cell", role: "gridcell", tabindex: "0" });
    this.cellRow = element("div", { class: "cells", role: "row" }, this.cell);
    this.stage = element("div", { class: "stage" }, this.canvas, this.rowLabels, this.columnLabels, this.cellRow);
    this.space = element("div", { class: "space", role: "presentation" }, this.stage);
    this.scroller = element("div", { class: "scroller", role: "grid" }, this.space);
    root.append(this.scroller);
    this.pencil = this.canvas.getContext("2d");
    this.listen();
  }

  /// Another result, of which the head and the place are still to be told.
  fill() {
    Object.assign(this, { zoom: 1, head: 0, row: 0, column: 0, pointed: null, image: null, view: null });
    this.scroller.setAttribute("aria-rowcount", result.T);
    this.scroller.setAttribute("aria-colcount", result.S);
    this.rowLabels.replaceChildren();
    this.columnLabels.replaceChildren();
    this.measure();
  }

  listen() {
    this.scroller.addEventListener("scroll", () => this.redrawSoon(), { passive: true });
    this.canvas.addEventListener("pointermove", (event) => event.pointerType !== "touch" && this.point(this.place(event)));
    this.cellRow.addEventListener("pointermove", (event) => event.pointerType !== "touch" && this.point(this.place(event)));
    this.stage.addEventListener("pointerleave", () => this.point(null));
    this.stage.addEventListener("click", (event) => {
      const place = this.place(event);
      if (place) {
        this.onSelect(place.row, place.column);
        this.cell.focus({ preventScroll: true });
      }
    });
    new ResizeObserver(() => this.layout()).observe(this.scroller.parentElement);
  }

  /// Where a column stands from the left, and which column stands there: words that run right to left begin on the right.
  seat(column) {
    return mirrored ? result.S - 1 - column : column;
  }

  /// How wide the words are, which is what the labels need.
  measure() {
    this.pencil.font = "600 13px " + getComputedStyle(document.body).fontFamily;
    const widthOf = (words, at) => this.pencil.measureText(shortened(words[at]) + positionText(words, at)).width;
    const widest = (words) => words.reduce((most, _, at) => Math.max(most, widthOf(words, at)), 0);
    this.rowText = widest(result.rows);
    this.columnText = widest(result.columns);
  }

  /// How high the cells may be together so that what stands below them is still in the window; on a small one all that they need.
  roomBelow() {
    const { top } = this.scroller.parentElement.getBoundingClientRect();
    const labels = Math.min(this.columnText, 96) + 16;
    return innerWidth <= 960 ? Infinity : Math.max(innerHeight - (top + scrollY) - labels - belowMap, leastMap);
  }

  /// The sizes of everything, from the width there is.
  layout() {
    const room = this.scroller.parentElement.clientWidth;
    if (room === 0 || !result) {
      return;
    }
    const { T, S } = result;
    const narrow = onPhone.matches;
    const lines = narrow ? Math.ceil((this.rowText - 14) / 70) : 1; // of the longest word of a row
    this.left = Math.ceil(Math.min(this.rowText + 14, narrow ? 92 : 120));
    const tall = T > 1.5 * S; // and so with a scroll bar beside it
    const fit = (room - this.left - (tall ? 18 : 2)) / S;
    const least = narrow ? Math.max(26, 17 * Math.ceil(this.columnText / 280)) : S <= 30 ? 14 : 0.4;
    const usual = Math.min(Math.max(tall ? fit : Math.min(fit, this.roomBelow() / T), least), mostCell);
    const height = tall ? Math.min(usual, Math.max(20, 900 / T)) : usual;
    this.zoom = Math.min(Math.max(this.zoom, Math.min(leastZoomed / usual, 1)), mostZoomed / usual);
    find("smaller").disabled = usual * this.zoom <= leastZoomed;
    find("larger").disabled = usual * this.zoom >= mostZoomed;
    const width = usual * this.zoom;
    this.width = width;
    this.height = Math.max(height, Math.min(24, 320 / T), 17 * lines) * this.zoom; // few rows are not flat
    this.pitch = Math.min(width, this.height) >= 20 ? 17 : 12; // pixels from one label to the next, at least
    this.rowPitch = lines > 1 ? 17 * lines : this.pitch;
    this.stage.classList.toggle("dense", this.pitch === 12);
    this.upright = this.columnText + 8 > width; // words that do not fit side by side are turned
    const turned = narrow ? Math.max(Math.min(this.columnText, 130), this.columnText / Math.floor(usual / 17) + 8) : Math.min(this.columnText, 96);
    this.top = this.upright ? Math.ceil(turned) + 10 : 24;
    this.space.style.width = `${this.left + S * this.width + 1}px`;
    this.space.style.height = `${this.top + T * this.height + 1}px`;
    this.stage.style.width = "0";
    this.stage.style.height = "0";
    const wide = this.scroller.clientWidth;
    const high = Math.min(this.scroller.clientHeight, this.top + T * this.height + 1);
    this.stage.style.width = `${wide}px`;
    this.stage.style.height = `${high}px`;
    this.view = { width: Math.min(wide - this.left, S * this.width), height: Math.min(high - this.top, T * this.height) };
    const ratio = window.devicePixelRatio || 1;
    this.ratio = ratio;
    this.canvas.width = Math.round(this.view.width * ratio);
    this.canvas.height = Math.round(this.view.height * ratio);
    this.canvas.style.width = `${this.view.width}px`;
    this.canvas.style.height = `${this.view.height}px`;
    this.canvas.style.left = this.cellRow.style.left = `${this.left}px`;
    this.canvas.style.top = this.cellRow.style.top = `${this.top}px`;
    this.cellRow.style.width = `${this.view.width}px`;
    this.cellRow.style.height = `${this.view.height}px`;
    this.draw();
  }

  setHead(head) {
    this.head = head;
    this.image = imageOf(head);
    this.scroller.setAttribute("aria-label", areWeights ? `Weights of ${headText(head)}: rows ask, columns are looked at` : `Numbers of ${headText(head)}`);
    this.draw();
  }

  select(row, column, reveal) {
    this.row = row;
    this.column = column;
    if (reveal && this.view) {
      this.reveal();
    }
    this.redrawSoon();
  }

  reveal() {
    const into = (start, size, offset, room) => (start < offset ? start : start + size > offset + room ? start + size - room : offset);
    this.scroller.scrollLeft = into(this.seat(this.column) * this.width, this.width, this.scroller.scrollLeft, this.view.width);
    this.scroller.scrollTop = into(this.row * this.height, this.height, this.scroller.scrollTop, this.view.height);
  }

  point(place) {
    if (place?.row !== this.pointed?.row || place?.column !== this.pointed?.column) {
      this.onPoint(place);
    }
  }

  /// The row and the column that are marked, whoever points at them; null: none.
  mark(place) {
    this.pointed = place;
    this.redrawSoon();
  }

  /// Row and column below the pointer.
  place(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left + this.scroller.scrollLeft) / this.width);
    const row = Math.floor((event.clientY - box.top + this.scroller.scrollTop) / this.height);
    const inside = event.clientX >= box.left && event.clientY >= box.top && event.clientX < box.right && event.clientY < box.bottom;
    return inside && row < result.T && column < result.S ? { row, column: this.seat(column) } : null;
  }

  redrawSoon() {
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = undefined;
    if (!this.view || !this.image) {
      return;
    }
    const { width, height } = this;
    this.x = this.scroller.scrollLeft;
    this.y = this.scroller.scrollTop;
    const columns = [Math.floor(this.x / width), Math.min(Math.ceil((this.x + this.view.width) / width), result.S)];
    const rows = [Math.floor(this.y / height), Math.min(Math.ceil((this.y + this.view.height) / height), result.T)];
    this.drawCells(rows, columns);
    this.drawLabels(rows, columns);
    this.placeCell();
  }

  drawCells(rows, columns) {
    const { pencil, width, height, view } = this;
    pencil.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pencil.clearRect(0, 0, view.width, view.height);
    pencil.imageSmoothingEnabled = width * this.ratio < 1 || height * this.ratio < 1;
    pencil.save();
    pencil.translate(mirrored ? result.S * width - this.x : -this.x, -this.y);
    pencil.scale(mirrored ? -1 : 1, 1);
    pencil.drawImage(this.image, 0, 0, result.S * width, result.T * height);
    pencil.restore();
    const gap = width >= 40 ? 3 : width >= 14 ? 2 : width >= 6 ? 1 : 0;
    pencil.fillStyle = getComputedStyle(document.body).backgroundColor;
    for (let column = columns[0]; gap && column <= columns[1]; ++column) {
      pencil.fillRect(Math.round(column * width - this.x - gap / 2), 0, gap, view.height);
    }
    for (let row = rows[0]; gap && height >= 6 && row <= rows[1]; ++row) {
      pencil.fillRect(0, Math.round(row * height - this.y - gap / 2), view.width, gap);
    }
    const numbered = width >= 38 && height >= 20;
    if (numbered) {
      this.drawNumbers(rows, columns);
    }
    if (change !== null && width >= 5 && height >= 5) {
      this.drawChanges(rows, columns, numbered ? cellText : undefined);
    }
    if (this.pointed) {
      this.drawCross();
    }
  }

  /// Around each cell of which a what-if shows other digits.
  drawChanges(rows, columns, shown) {
    const { pencil, width, height } = this;
    const inset = width >= 14 ? 2.5 : 1;
    pencil.strokeStyle = getComputedStyle(document.body).getPropertyValue("--change");
    pencil.lineWidth = width >= 14 ? 2 : 1;
    pencil.setLineDash(width >= 14 ? [4, 3] : []);
    for (let row = rows[0]; row < rows[1]; ++row) {
      for (let seat = columns[0]; seat < columns[1]; ++seat) {
        if (isChanged(this.head, row, this.seat(seat), shown)) {
          pencil.strokeRect(seat * width - this.x + inset, row * height - this.y + inset, width - 2 * inset, height - 2 * inset);
        }
      }
    }
    pencil.setLineDash([]);
  }

  drawNumbers(rows, columns) {
    const { pencil, width, height } = this;
    pencil.font = `${width >= 90 ? 18 : width >= 56 ? 14 : 12}px ` + getComputedStyle(document.body).fontFamily;
    pencil.textAlign = "center";
    pencil.textBaseline = "middle";
    for (let row = rows[0]; row < rows[1]; ++row) {
      const scale = scaleOf(this.head, row);
      for (let seat = columns[0]; seat < columns[1]; ++seat) {
        const column = this.seat(seat);
        pencil.fillStyle = inkOn(shareOf(weight(this.head, row, column), scale));
        pencil.fillText(cellText(this.head, row, column), (seat + 0.5) * width - this.x, (row + 0.5) * height - this.y + 1, width - 4);
      }
    }
  }

  /// Two bands that meet in the cell below the pointer.
  drawCross() {
    const { pencil, width, height, view } = this;
    const { row, column } = this.pointed;
    pencil.lineWidth = 1;
    for (const [colour, inset] of [["rgba(255, 255, 255, 0.9)", 0.5], ["rgba(0, 0, 0, 0.55)", -0.5]]) {
      pencil.strokeStyle = colour;
      if (row >= 0) {
        pencil.strokeRect(-2, row * height - this.y + inset, view.width + 4, height - 2 * inset);
      }
      if (column >= 0) {
        pencil.strokeRect(this.seat(column) * width - this.x + inset, -2, width - 2 * inset, view.height + 4);
      }
    }
  }

  drawLabels(rows, columns) {
    const { pitch, rowPitch } = this;
    const current = { row: this.pointed?.row ?? this.row, column: this.pointed?.column ?? this.column };
    this.label(this.rowLabels, result.rows, rows, this.height, current.row, (label, at) => {
      const middle = (at + 0.5) * this.height - this.y;
      label.style.width = `${this.left - 8}px`;
      label.style.transform = `translate(0, calc(${this.top + Math.min(middle, this.view.height - rowPitch / 2)}px - 50%))`;
      return middle >= rowPitch / 2 - 3 && middle <= this.view.height - rowPitch / 2 + 3;
    });
    this.label(this.columnLabels, result.columns, columns, this.upright ? this.width : Infinity, this.seat(current.column), (label, at) => {
      const middle = this.left + (at + 0.5) * this.width - this.x;
      label.style.width = this.upright ? `${this.top - 6}px` : `${this.width - 4}px`;
      label.style.transform = this.upright
        ? `translate(${middle}px, ${this.top - 4}px) rotate(-90deg) translate(0, -50%)`
        : `translate(${middle - this.width / 2 + 2}px, ${this.top - pitch - 4}px)`;
      return middle >= this.left + pitch / 2 - 3 && middle <= this.left + this.view.width - pitch / 2 + 3;
    });
    this.columnLabels.classList.toggle("upright", this.upright);
  }

  /// Every label when there is room for it, otherwise every n-th; always that of the current place, and none that would touch it.
  label(parent, words, [first, end], size, current, put) {
    const every = Math.ceil(this.pitch / size) || 1;
    let used = 0;
    const add = (at) => {
      const label = parent.children[used] ?? parent.appendChild(element("div", { class: "label", dir: "auto" }));
      if (put(label, at)) {
        const place = parent === this.columnLabels ? this.seat(at) : at;
        label.replaceChildren(shortened(words[place]), positionOf(words, place));
        label.title = visible(words[place]);
        label.classList.toggle("current", at === current);
        label.hidden = false;
        ++used;
      }
    };
    for (let at = Math.ceil(first / every) * every; at < end; at += every) {
      if (Math.abs(at - current) * size >= this.pitch) {
        add(at);
      }
    }
    if (current >= first && current < end) {
      add(current);
    }
    for (let i = used; i < parent.children.length; ++i) {
      parent.children[i].hidden = true;
    }
  }

  /// The element that has the focus, over the selected cell.
  placeCell() {
    const { cell, width, height } = this;
    cell.style.width = `${Math.max(width, 4)}px`;
    cell.style.height = `${Math.max(height, 4)}px`;
    cell.style.transform = `translate(${this.seat(this.column) * width - this.x}px, ${this.row * height - this.y}px)`;
    this.cellRow.setAttribute("aria-rowindex", this.row + 1);
    cell.setAttribute("aria-colindex", this.column + 1);
    cell.setAttribute("aria-label", `${visible(result.rows[this.row])} to ${visible(result.columns[this.column])}: ${number(weight(this.head, this.row, this.column))}`);
  }
}
