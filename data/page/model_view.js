// All heads of all layers at once, in place of those of one layer: small pictures on one canvas, framed in the colour of what a head does
// most; rows are layers, columns heads, or a few heads are one row.
// Below each picture a strip: the row of the word that is pointed at, or else of the chosen one. One element, the cell that has the
// focus, moves over the canvas, as in the heat map.

/// What `compute` finds where `layer` is the layer that is looked at.
const inLayer = (layer, compute) => within(resultOf(layer), compute);

const fewHeads = 8; // stand in one row

class ModelView {
  constructor({ onOpen }) {
    this.onOpen = onOpen;
    this.sorting = element("select", { id: "model-order", "aria-label": "Order of the heads" });
    this.button = element("button", { type: "button", "aria-expanded": "true", "aria-controls": "model-body", text: "All heads" });
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.labels = element("div", { class: "model-labels", "aria-hidden": "true" });
    this.cell = element("div", { class: "model-cell", role: "gridcell", tabindex: "0" });
    this.stage = element("div", { class: "model-stage" }, this.canvas, this.labels, element("div", { role: "row" }, this.cell));
    this.grid = element("div", { class: "model-grid", role: "grid", "aria-label": "All heads of all layers" }, this.stage);
    this.status = element("p", { class: "model-status" });
    this.key = element("p", { class: "model-key" });
    this.body = element("div", { id: "model-body" }, this.grid, this.status, this.key);
    this.section = element("section", { id: "model-section", class: "model", "aria-labelledby": "model-title" },
      element("div", { class: "model-bar" }, element("h2", { id: "model-title" }, this.button), element("span", { class: "hint", text: "the strip below each: the row of one word" }), this.sorting), this.body);
    this.pencil = this.canvas.getContext("2d");
    this.listen();
  }

  /// The heads of another result, if it has several layers.
  fill() {
    const several = layers.length > 1;
    Object.assign(this, { order: "layer", at: 0, row: 0, shown: null });
    this.places = several ? layers.flatMap((_, layer) => Array.from({ length: layers[layer].weights.length }, (_, head) => ({ layer, head }))) : [];
    this.most = Math.max(...this.places.map(({ head }) => head + 1));
    const orders = [["layer", "layer and head"], ...(areWeights ? declared.means.map(({ name, header }) => [name, header]) : [])];
    this.sorting.replaceChildren(...orders.map(([value, text]) => element("option", { value, text: `by ${text}` })));
    this.gather();
    several ? find("layers-section").after(this.section) : this.section.remove();
  }

  listen() {
    this.button.addEventListener("click", () => this.toggle());
    this.sorting.addEventListener("change", () => {
      this.order = this.sorting.value;
      this.layout();
    });
    this.grid.addEventListener("keydown", (event) => this.press(event));
    this.stage.addEventListener("pointermove", (event) => this.tell(this.placeAt(event) ?? this.at));
    this.stage.addEventListener("pointerleave", () => this.tell(this.at));
    this.stage.addEventListener("click", (event) => {
      const at = this.placeAt(event);
      if (at !== null) {
        this.at = at;
        this.open();
      }
    });
    new ResizeObserver(() => this.layout()).observe(this.section);
  }

  /// Pictures and means layer by layer, so that a page of many opens at once.
  gather() {
    this.round = (this.round ?? 0) + 1;
    const { round } = this;
    let next = 0;
    const some = () => {
      if (round !== this.round) {
        return; // begun anew
      }
      const until = performance.now() + 12;
      while (next < this.places.length && performance.now() < until) {
        const place = this.places[next++];
        inLayer(place.layer, () => {
          place.image = imageOf(place.head);
          place.small = null;
          place.means = areWeights ? meansOf(place.head) : {};
          place.role = areWeights ? roleOf(place.head) : null;
        });
        this.drawHead(place);
      }
      if (next < this.places.length) {
        requestAnimationFrame(some);
      } else {
        this.showKey();
        this.layout();
      }
    };
    some();
  }

  /// With the pixels that it has on the screen at most, each of the largest weight there, so that no line fades.
  shrunk(place) {
    const most = Math.floor(this.size * (window.devicePixelRatio || 1));
    const { width, height } = place.image;
    const fitting = [Math.min(height, most), Math.min(width, most)];
    if (place.small?.height !== fitting[0] || place.small?.width !== fitting[1]) {
      place.small = width <= most && height <= most ? place.image : inLayer(place.layer, () => imageOf(place.head, ...fitting));
    }
    return place.small;
  }

  toggle(open = this.body.hidden) {
    const left = open && find("heads").contains(document.activeElement);
    this.body.hidden = this.sorting.hidden = !open;
    find("heads-section").hidden = open || result.H === 1;
    this.button.setAttribute("aria-expanded", String(open));
    this.layout();
    left && this.cell.focus();
  }

  /// The places in the order that is asked for; of a mean that no head has, the first ones last.
  sorted() {
    if (this.order === "layer") {
      return this.places;
    }
    const value = ({ means }) => means?.[this.order] ?? -1;
    return [...this.places].sort((a, b) => value(b) - value(a));
  }

  layout() {
    const room = this.grid.clientWidth - 6; // without its edges
    if (room < 0 || this.body.hidden || this.places.length === 0) {
      return;
    }
    const labelled = 70; // a picture with "11.10 0.94" below it
    const places = Math.max(Math.floor((room - 4) / labelled), 1);
    const byLayer = (this.byLayer = this.order === "layer" && this.places.length > Math.min(places, fewHeads));
    const shown = this.sorted();
    const chosen = this.shown?.[this.at];
    this.shown = shown;
    this.at = chosen ? shown.indexOf(chosen) : this.at;
    this.left = byLayer ? 30 : 4;
    this.top = byLayer ? 22 : 4;
    this.caption = byLayer ? 0 : 20;
    const gap = room < 560 ? 4 : 8;
    const fitting = byLayer ? this.most : Math.min(places, shown.length);
    const high = Math.min(Math.max(Math.floor(760 / layers.length) - 16, 44), 88); // so that a dozen layers are seen at once
    this.size = Math.min(Math.max(Math.floor((room - this.left) / fitting) - gap, 20), high);
    this.columns = byLayer ? this.most : fitting;
    this.strip = Math.max(Math.round(this.size / 8), 5);
    this.line = gap > 4 ? 3 : 2; // of a frame, in the gap
    this.under = this.size + this.line + 2; // where the strip begins
    this.stepX = byLayer ? this.size + gap : Math.max(this.size + gap, labelled);
    this.stepY = this.under + this.strip + this.caption + gap;
    shown.forEach((place, i) => {
      [place.x, place.y] = byLayer ? [place.head, place.layer] : [i % this.columns, Math.floor(i / this.columns)];
    });
    this.width = this.left + this.columns * this.stepX;
    this.height = this.top + (Math.max(...shown.map(({ y }) => y)) + 1) * this.stepY;
    this.stage.style.width = `${this.width}px`;
    this.stage.style.height = `${this.height}px`;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.pencil.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.showLabels();
    this.grid.setAttribute("aria-rowcount", String(Math.ceil(this.height / this.stepY)));
    this.grid.setAttribute("aria-colcount", String(this.columns));
    this.draw();
    this.focusOn(this.at, false);
  }

  showLabels() {
    const label = (x, y, text, name) => {
      const made = element("div", { class: `model-label ${name}`, text });
      made.style.transform = `translate(${x}px, ${y}px)`;
      made.style.width = `${name === "of-layer" ? this.left - 6 : name === "of-place" ? this.stepX - 2 : this.size}px`;
      return made;
    };
    const [across, down] = [this.left, this.top];
    const made = this.byLayer
      ? [...Array.from({ length: this.most }, (_, head) => label(across + head * this.stepX, 0, this.nameOfColumn(head), "of-head")),
        ...layers.map(({ layer }, i) => label(0, down + i * this.stepY + this.size / 2 - 9, String(layer), "of-layer"))]
      : this.shown.map(({ layer, head, x, y, means, role }) => label(across + x * this.stepX, down + y * this.stepY + this.under + this.strip + 4,
        `${layers[layer].layer}.${resultOf(layer).heads[head]} ${this.order === "layer" ? meanKinds[role]?.header ?? "" : means?.[this.order]?.toFixed(2) ?? ""}`, "of-place"));
    this.labels.replaceChildren(...made);
  }

  /// The number of the head, where it is the same in every layer that has one there.
  nameOfColumn(head) {
    const [first, ...others] = new Set(layers.map((_, i) => resultOf(i).heads[head]).filter((number) => number !== undefined));
    return others.length > 0 ? "" : String(first ?? head);
  }

  draw() {
    if (!this.shown || this.body.hidden) {
      return;
    }
    const style = getComputedStyle(this.section);
    this.ground = style.getPropertyValue("--mask");
    this.pencil.clearRect(0, 0, this.width, this.height);
    this.shown.forEach((place) => this.drawHead(place));
  }

  drawHead(place) {
    if (!this.shown || this.body.hidden) {
      return;
    }
    const { pencil, size } = this;
    const [x, y] = this.corner(place);
    pencil.fillStyle = this.ground;
    pencil.fillRect(x, y, size, size);
    if (place.image) {
      pencil.imageSmoothingEnabled = false;
      pencil.drawImage(this.shrunk(place), x, y, size, size);
    }
    if (place.role) {
      const line = this.line;
      pencil.lineWidth = line;
      pencil.strokeStyle = meanKinds[place.role].colour;
      pencil.strokeRect(x - line / 2, y - line / 2, size + line, size + line);
    }
    this.drawStrip(place);
  }

  corner({ x, y }) {
    return [this.left + x * this.stepX, this.top + y * this.stepY];
  }

  drawStrip(place) {
    const { pencil, size, strip, row } = this;
    const [x, y] = this.corner(place);
    pencil.imageSmoothingEnabled = false;
    pencil.fillStyle = this.ground;
    pencil.fillRect(x, y + this.under, size, strip);
    if (place.image) {
      pencil.drawImage(place.image, 0, row, place.image.width, 1, x, y + this.under, size, strip);
    }
  }

  /// The word whose row the strips show.
  show(row) {
    if (row !== this.row) {
      this.row = row;
      if (this.shown && !this.body.hidden) {
        this.shown.forEach((place) => this.drawStrip(place));
        this.tell(this.told ?? this.at);
      }
    }
  }

  /// The head that the page has below.
  choose(layer, head) {
    this.at = Math.max((this.shown ?? this.places).findIndex((place) => place.layer === layer && place.head === head), 0);
    if (this.shown) {
      this.focusOn(this.at, false);
    }
  }

  focusOn(at, moves = true) {
    this.at = at;
    const place = this.shown[at];
    const [x, y] = this.corner(place);
    Object.assign(this.cell.style, { transform: `translate(${x}px, ${y}px)`, width: `${this.size}px`, height: `${this.under + this.strip}px` });
    this.cell.setAttribute("aria-label", this.text(place));
    this.cell.setAttribute("aria-colindex", String(place.x + 1));
    this.cell.parentElement.setAttribute("aria-rowindex", String(place.y + 1));
    this.tell(at);
    if (moves) {
      announce(this.text(place));
      this.cell.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }

  text({ layer, head, means, role }) {
    const name = inLayer(layer, () => `Layer ${layers[layer].layer}, ${headText(head)}`);
    const numbers = declared.means.filter((mean) => typeof means?.[mean.name] === "number").map((mean) => `${mean.header} ${means[mean.name].toFixed(2)}`);
    return name + (role ? `: ${meanKinds[role].header}` : "") + (numbers.length > 0 ? ` (${numbers.join(", ")})` : "");
  }

  tell(at) {
    this.told = at;
    this.status.textContent = `${this.text(this.shown[at])}. Strips: what “${shortened(result.rows[this.row])}” attends to.`;
  }

  showKey() {
    const there = declared.means.filter(({ name }) => this.places.some(({ role }) => role === name));
    this.key.replaceChildren(...there.map(({ header, meaning, colour }) => {
      const swatch = element("span", { class: "model-swatch" });
      swatch.style.borderColor = colour;
      return element("span", { class: "model-role" }, swatch, `${header}: ${meaning}`);
    }), areWeights ? element("span", { class: "hint", text: `A frame has the colour of the largest mean, if that is ${declared.least_role} or more and twice what equal weights give.` }) : "");
  }

  placeAt(event) {
    const box = this.stage.getBoundingClientRect();
    const x = Math.floor((event.clientX - box.left - this.left) / this.stepX);
    const y = Math.floor((event.clientY - box.top - this.top) / this.stepY);
    const at = this.shown.findIndex((place) => place.x === x && place.y === y);
    return at < 0 ? null : at;
  }

  press(event) {
    const { x, y } = this.shown[this.at];
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-x, 0], End: [this.columns - 1 - x, 0] }[event.key];
    if (event.key === "Enter" || event.key === " ") {
      this.open();
    } else if (way) {
      const end = (row) => Math.max(...this.shown.filter((place) => place.y === row).map((place) => place.x));
      const row = Math.min(Math.max(y + way[1], 0), this.shown.at(-1).y);
      const column = Math.min(Math.max(x + way[0], 0), end(row));
      this.focusOn(this.shown.findIndex((place) => place.x === column && place.y === row));
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  open() {
    const { layer, head } = this.shown[this.at];
    this.toggle(false);
    this.onOpen(layer, head);
  }
}
