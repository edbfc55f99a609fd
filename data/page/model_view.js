// All heads of all layers at once, in place of those of one layer: small pictures on one canvas, framed in the colour of what a head does
// most; rows are layers, columns heads, or a few heads are one row.
// Below each picture a strip: the row of the word that is pointed at, or else of the chosen one. One element, the cell that has the
// focus, moves over the canvas, as in the heat map.

/// What `compute` finds where `layer` is the layer that is looked at.
const inLayer = (layer, compute) => within(resultOf(layer), compute);

const fewHeads = 8; // stand in one row

class ModelView {
  constructor() {
    this.section = find("model-section");
    this.button = find("model-button");
    this.sorting = find("model-order");
    this.body = find("model-body");
    [this.grid, this.stage, this.canvas, this.labels, this.cell, this.status, this.key] =
      [".model-grid", ".model-stage", "canvas", ".model-labels", ".model-cell", ".model-status", ".model-key"].map((each) => this.body.querySelector(each));
    this.pencil = this.canvas.getContext("2d");
    this.button.addEventListener("click", () => this.toggle());
    this.sorting.addEventListener("change", () => {
      this.order = this.sorting.value;
      this.layout();
    });
    listenToKeys(this.grid, (event) => this.walk(event));
    this.stage.addEventListener("pointermove", (event) => this.tell(this.placeAt(event) ?? this.at));
    this.stage.addEventListener("pointerleave", () => this.tell(this.at));
    this.stage.addEventListener("click", (event) => {
      const at = this.placeAt(event);
      at === null || this.open(at);
    });
    new ResizeObserver(() => this.layout()).observe(this.section);
  }

  /// The heads of another result, if it has several layers.
  fill() {
    const several = layers.length > 1;
    Object.assign(this, { order: "layer", at: 0, row: 0, shown: null });
    const placesOf = ({ weights }, layer) => weights.map((_, head) => ({ layer, head, means: meansOf(head, layer), role: roleOf(head, layer) }));
    this.places = several ? layers.flatMap(placesOf) : [];
    this.most = Math.max(...this.places.map(({ head }) => head + 1));
    const orders = [["layer", "layer and head"], ...(areWeights ? declared.means.map(({ name, header }) => [name, header]) : [])];
    this.sorting.replaceChildren(...orders.map(([value, text]) => element("option", { value, text: `by ${text}` })));
    this.gather();
    this.showKey();
    this.section.hidden = !several;
  }

  /// Pictures layer by layer, so that a page of many opens at once.
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
        place.image = inLayer(place.layer, () => imageOf(place.head));
        place.small = null;
        this.drawHead(place);
      }
      if (next < this.places.length) {
        requestAnimationFrame(some);
      } else {
        this.layout();
      }
    };
    some();
  }

  /// With the pixels that it has on the screen at most, each of the largest weight there, so that no line fades.
  shrunk(place) {
    const most = Math.floor(this.size * devicePixelRatio);
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
    const value = ({ means }) => means[this.order] ?? -1;
    return [...this.places].sort((a, b) => value(b) - value(a));
  }

  layout() {
    const isSeen = !this.body.hidden && this.places.length > 0; // a question about its size would lay out the whole page
    const room = isSeen ? this.grid.clientWidth - 6 : -1; // without its edges
    if (room < 0) {
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
    Object.assign(this.stage.style, { width: `${this.width}px`, height: `${this.height}px` });
    resize(this.canvas, this.width, this.height);
    this.ground = getComputedStyle(this.section).getPropertyValue("--mask");
    shown.forEach((place) => this.drawHead(place));
    this.showLabels();
    this.grid.setAttribute("aria-rowcount", String(Math.ceil(this.height / this.stepY)));
    this.grid.setAttribute("aria-colcount", String(this.columns));
    this.focusOn(this.at, false);
  }

  showLabels() {
    const widths = { "of-layer": this.left - 6, "of-place": this.stepX - 2, "of-head": this.size };
    const label = (x, y, text, name) =>
      element("div", { class: `model-label ${name}`, text, style: { transform: `translate(${x}px, ${y}px)`, width: `${widths[name]}px` } });
    const [across, down] = [this.left, this.top];
    const made = this.byLayer
      ? [...Array.from({ length: this.most }, (_, head) => label(across + head * this.stepX, 0, this.nameOfColumn(head), "of-head")),
        ...layers.map(({ layer }, i) => label(0, down + i * this.stepY + this.size / 2 - 9, String(layer), "of-layer"))]
      : this.shown.map(({ layer, head, x, y, means, role }) => label(across + x * this.stepX, down + y * this.stepY + this.under + this.strip + 4,
        `${layers[layer].layer}.${resultOf(layer).heads[head]} ${this.order === "layer" ? role?.header ?? "" : means[this.order]?.toFixed(2) ?? ""}`, "of-place"));
    this.labels.replaceChildren(...made);
  }

  /// The number of the head, where it is the same in every layer that has one there.
  nameOfColumn(head) {
    const [first, ...others] = new Set(layers.map((_, i) => resultOf(i).heads[head]).filter((number) => number !== undefined));
    return others.length > 0 ? "" : String(first ?? head);
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
      pencil.strokeStyle = place.role.colour;
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
    const numbers = declared.means.filter((mean) => mean.name in means).map((mean) => `${mean.header} ${means[mean.name].toFixed(2)}`);
    return name + (role ? `: ${role.header}` : "") + (numbers.length > 0 ? ` (${numbers.join(", ")})` : "");
  }

  tell(at) {
    this.told = at;
    this.status.textContent = `${this.text(this.shown[at])}. Strips: what “${shortened(result.rows[this.row])}” attends to.`;
  }

  showKey() {
    const there = declared.means.filter(({ name }) => this.places.some(({ role }) => role?.name === name));
    this.key.replaceChildren(...there.map(({ header, meaning, colour }) =>
      element("span", { class: "model-role" }, element("span", { class: "model-swatch", style: { borderColor: colour } }), `${header}: ${meaning}`)),
    areWeights ? element("span", { class: "hint", text: `A frame has the colour of the largest mean, if that is ${declared.least_role} or more and twice what equal weights give.` }) : "");
  }

  placeAt(event) {
    const box = this.stage.getBoundingClientRect();
    const x = Math.floor((event.clientX - box.left - this.left) / this.stepX);
    const y = Math.floor((event.clientY - box.top - this.top) / this.stepY);
    const at = this.shown.findIndex((place) => place.x === x && place.y === y);
    return at < 0 ? null : at;
  }

  walk({ key }) {
    const { x, y } = this.shown[this.at];
    const to = movedInGrid(key, [y, x], [this.shown.at(-1).y + 1, this.columns]);
    if (key === "Enter" || key === " ") {
      this.open(this.at);
    } else if (to) {
      const row = this.shown.filter((place) => place.y === to[0]);
      this.focusOn(this.shown.indexOf(row[Math.min(to[1], row.length - 1)]));
    } else {
      return false;
    }
  }

  open(at) {
    const { layer, head } = this.shown[at];
    this.toggle(false);
    update({ layer, head, pointed: null });
    focusOnCell();
  }
}
