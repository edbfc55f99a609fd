// The weights of one head as a grid of colours. Only what can be seen is drawn, so that hundreds of words stay smooth: the grid
// scrolls below a stage that stays where it is, and one element, the cell that has the focus, moves over the canvas.

/// The 256 colours of a ground as pixels.
const pixelsOf = Object.fromEntries(Object.entries(ramps).map(([name, parts]) => [name, new Uint32Array(Uint8Array.from({ length: 1024 }, (_, i) => (i % 4 === 3 ? 255 : parts[3 * (i >> 2) + (i % 4)])).buffer)]));

/// A head as an image of one pixel a weight, or where it has fewer pixels, of the largest weight of each; nothing where all is masked.
function imageOf(head, height = result.T, width = result.S) {
  const canvas = element("canvas", { width, height });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const opaque = pixelsOf[ground()];
  const masks = hasMask();
  const most = new Float64Array(width * height).fill(-1); // shares; −1 where all is masked
  const weights = weightsOf(head);
  for (let row = 0, next = 0; row < result.T; ++row) {
    const start = Math.floor((row * height) / result.T) * width;
    const scale = scaleOf(head, row);
    for (let column = 0; column < result.S; ++column, ++next) {
      const place = start + Math.floor((column * width) / result.S);
      const share = masks && weights[next] === 0 && isMasked(head, row, column) ? -1 : shareOf(weights[next], scale);
      most[place] = share > most[place] ? share : most[place];
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

/// Gives a canvas as many pixels as the screen has there.
function resize(canvas, width, height) {
  canvas.width = Math.round(width * devicePixelRatio);
  canvas.height = Math.round(height * devicePixelRatio);
  canvas.getContext("2d").setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
}

class HeatMap {
  constructor() {
    [this.scroller, this.space, this.stage, this.canvas, this.rowLabels, this.columnLabels, this.cellRow, this.cell] =
      [".scroller", ".space", ".stage", "canvas", ".row-labels", ".column-labels", ".cells", ".cell"].map((each) => find("heat-map").querySelector(each));
    this.pencil = this.canvas.getContext("2d");
    this.scroller.addEventListener("scroll", () => this.redrawSoon(), { passive: true });
    this.canvas.addEventListener("pointermove", (event) => event.pointerType !== "touch" && this.point(this.place(event)));
    this.stage.addEventListener("pointerleave", () => this.point(null));
    this.stage.addEventListener("click", (event) => {
      const place = this.place(event);
      if (place) {
        select(place.row, place.column);
        this.cell.focus({ preventScroll: true });
      }
    });
    new ResizeObserver(() => this.layout()).observe(find("heat-map"));
    listenToKeys(this.scroller, (event) => this.walk(event));
  }

  /// Another result, of which the head and the place are still to be told.
  fill() {
    Object.assign(this, { zoom: 1, pointed: null, image: null, view: null });
    this.scroller.setAttribute("aria-rowcount", result.T);
    this.scroller.setAttribute("aria-colcount", result.S);
    this.rowLabels.replaceChildren();
    this.columnLabels.replaceChildren();
    this.measure();
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
    const { top } = find("heat-map").getBoundingClientRect();
    const labels = Math.min(this.columnText, 96) + 16;
    return innerWidth <= 960 ? Infinity : Math.max(innerHeight - (top + scrollY) - labels - belowMap, leastMap);
  }

  /// The sizes of everything, from the width there is.
  layout() {
    const room = find("heat-map").clientWidth;
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
    Object.assign(this.space.style, { width: `${this.left + S * this.width + 1}px`, height: `${this.top + T * this.height + 1}px` });
    Object.assign(this.stage.style, { width: "0", height: "0" });
    const wide = this.scroller.clientWidth;
    const high = Math.min(this.scroller.clientHeight, this.top + T * this.height + 1);
    Object.assign(this.stage.style, { width: `${wide}px`, height: `${high}px` });
    this.view = { width: Math.min(wide - this.left, S * this.width), height: Math.min(high - this.top, T * this.height) };
    resize(this.canvas, this.view.width, this.view.height);
    const place = { left: `${this.left}px`, top: `${this.top}px`, width: `${this.view.width}px`, height: `${this.view.height}px` };
    Object.assign(this.canvas.style, place);
    Object.assign(this.cellRow.style, place);
    this.draw();
  }

  showHead() {
    this.image = imageOf(state.head);
    this.scroller.setAttribute("aria-label", areWeights ? `Weights of ${headText(state.head)}: rows ask, columns are looked at` : `Numbers of ${headText(state.head)}`);
    this.redrawSoon();
  }

  /// Scrolls to the chosen cell.
  reveal() {
    if (!this.view) {
      return;
    }
    const into = (start, size, offset, room) => (start < offset ? start : start + size > offset + room ? start + size - room : offset);
    this.scroller.scrollLeft = into(this.seat(state.column) * this.width, this.width, this.scroller.scrollLeft, this.view.width);
    this.scroller.scrollTop = into(state.row * this.height, this.height, this.scroller.scrollTop, this.view.height);
  }

  point(place) {
    if (place?.row !== this.pointed?.row || place?.column !== this.pointed?.column) {
      point(place);
    }
  }

  /// Keys choose another cell, and lead from it to the steps.
  walk({ key, ctrlKey }) {
    const { T, S } = result;
    const page = Math.max(Math.floor((this.view?.height ?? 0) / this.height), 1);
    const to = movedInGrid(key, [state.row, state.column], [T, S], { page, mirrored, ctrlKey });
    if (to) {
      select(...to);
    } else if (hasSteps() && (key === "Enter" || key === " ")) {
      find("step").focus();
    } else {
      return false;
    }
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
    if (!this.image || !this.view) {
      this.image && this.layout(); // which draws
      this.reveal();
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
    pencil.clearRect(0, 0, view.width, view.height);
    pencil.imageSmoothingEnabled = width * devicePixelRatio < 1 || height * devicePixelRatio < 1;
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
    this.drawEach(rows, columns);
    if (this.pointed) {
      this.drawCross();
    }
  }

  /// The digits of each cell where there is room, and a line around it where a what-if shows others.
  drawEach(rows, columns) {
    const { pencil, width, height } = this;
    const { head } = state;
    const numbered = width >= 38 && height >= 20;
    const outlined = change !== null && width >= 5 && height >= 5;
    const [line, inset] = width >= 14 ? [2, 2.5] : [1, 1];
    const style = getComputedStyle(document.body);
    Object.assign(pencil, { font: `${width >= 90 ? 18 : width >= 56 ? 14 : 12}px ${style.fontFamily}`, textAlign: "center", textBaseline: "middle" });
    Object.assign(pencil, { strokeStyle: style.getPropertyValue("--change"), lineWidth: line });
    pencil.setLineDash(line > 1 ? [4, 3] : []);
    for (let row = rows[0]; (numbered || outlined) && row < rows[1]; ++row) {
      const scale = scaleOf(head, row);
      for (let seat = columns[0]; seat < columns[1]; ++seat) {
        const column = this.seat(seat);
        const [x, y] = [seat * width - this.x, row * height - this.y];
        if (numbered) {
          pencil.fillStyle = inkOn(shareOf(weight(head, row, column), scale));
          pencil.fillText(cellText(head, row, column), x + 0.5 * width, y + 0.5 * height + 1, width - 4);
        }
        if (outlined && isChanged(head, row, column, numbered ? cellText : undefined)) {
          pencil.strokeRect(x + inset, y + inset, width - 2 * inset, height - 2 * inset);
        }
      }
    }
    pencil.setLineDash([]);
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
    const current = { row: this.pointed?.row ?? state.row, column: this.pointed?.column ?? state.column };
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
    const { head, row, column } = state;
    const transform = `translate(${this.seat(column) * width - this.x}px, ${row * height - this.y}px)`;
    Object.assign(cell.style, { width: `${Math.max(width, 4)}px`, height: `${Math.max(height, 4)}px`, transform });
    this.cellRow.setAttribute("aria-rowindex", row + 1);
    cell.setAttribute("aria-colindex", column + 1);
    cell.setAttribute("aria-label", `${visible(result.rows[row])} to ${visible(result.columns[column])}: ${number(weight(head, row, column))}`);
  }
}
