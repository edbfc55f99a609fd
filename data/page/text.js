"use strict";

// Words and numbers as text, and the elements that hold them. What comes from the result becomes text of the document, never markup.

const unsafe = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
const longestLabel = 40; // in letters as people count them

/// Control characters and what turns the direction of the text that follows, as the tables of the program write them.
function visible(text) {
  const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  return text.replace(unsafe, (character) => {
    const code = character.charCodeAt(0);
    return short[character] ?? (code < 0x80 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u" + code.toString(16).padStart(4, "0"));
  });
}

const segmenter = typeof Intl.Segmenter === "function" ? new Intl.Segmenter() : null;
/// At most so many letters, never half of one.
function shortened(text, most = longestLabel) {
  const start = visible(text.slice(0, most * 12));
  if (start.length <= most) {
    return start;
  }
  const letters = segmenter ? [...segmenter.segment(start)].map((part) => part.segment) : [...start];
  return letters.length > most || text.length > most * 12 ? letters.slice(0, most - 1).join("") + "…" : start;
}

/// Four digits after the point; as a power of ten where these would say nothing.
function number(x) {
  if (!Number.isFinite(x)) {
    return Number.isNaN(x) ? "nan" : x > 0 ? "∞" : "−∞";
  }
  const size = Math.abs(x);
  const text = size >= 1e-4 && size < 1e6 ? x.toFixed(4) : x.toExponential(4).replace(/e([+-])(\d)$/, "e$10$2");
  return x === 0 ? "0" : text.replace(/-/g, "−"); // 0.0000 would look rounded
}

/// Two digits after the point, or a power of ten, for a cell.
function shortNumber(x) {
  const text = Math.abs(x) < 1e4 ? x.toFixed(2) : x.toExponential(1);
  return Number.isNaN(x) ? "nan" : text.replace(/-/g, "−");
}

/// "1 word", "2 words".
const counted = (count, name) => `${count} ${name}${count === 1 ? "" : "s"}`;

const masked = "masked";
/// A score, which −∞ takes out of the sum.
const score = (x) => (x === -Infinity ? masked : number(x));

const shape = (...lengths) => `(${lengths.join(", ")})`;

/// An element with attributes, "text" and what an event calls ("onclick") among them; a style is an object, since the policy of the page
/// refuses it as a text. What is null is left out, and whatever is no element among the children becomes text.
function element(name, attributes = {}, ...children) {
  const made = name === "path" ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "text") {
      made.textContent = value;
    } else if (key === "style") {
      Object.assign(made.style, value);
    } else if (typeof value === "function") {
      made[key] = value;
    } else if (value !== null) {
      made.setAttribute(key, value);
    }
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/// Whether most words are Arabic, Hebrew or written like them.
function isRightToLeft(words) {
  const some = words.slice(0, 500);
  const count = (script) => some.filter((text) => script.test(text)).length;
  return count(/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/) > count(/\p{L}/u) / 2;
}

/// A word, whichever way it is written, that does not disturb the text around it.
function word(text) {
  const short = shortened(text);
  return element("bdi", { class: "word", text: short, title: short === text ? null : visible(text) });
}

/// A function of an object that computes once for each.
function once(compute) {
  const known = new WeakMap();
  return (key) => (known.has(key) ? known : known.set(key, compute(key))).get(key);
}

/// Where each word of a list stands.
const placesOfWords = once((words) => {
  const places = new Map();
  words.forEach((text, place) => places.set(text, places.get(text) ?? []).get(text).push(place));
  return places;
});

/// The position of a word that stands in several; "" of another.
const positionText = (words, place) => (placesOfWords(words).get(words[place]).length > 1 ? String(place) : "");
const positionOf = (words, place) => (positionText(words, place) && element("sub", { class: "position", text: String(place) }));

/// A word with it.
const wordAt = (words, place) => element("span", {}, word(words[place]), positionOf(words, place));

/// A text, a command say, of which each option with its value is an element that stays on a line.
function unbroken(text) {
  const word = /(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/.source;
  const parts = text.match(new RegExp(`--${word}(?: (?!--)${word})?|${word}|[^]`, "g")) ?? [];
  return parts.map((part) => (part.startsWith("--") ? element("span", { class: "option", text: part }) : part));
}

const find = (id) => document.getElementById(id);

function announce(text) {
  find("live").textContent = text;
}

/// Moves the focus among elements of which one at a time can be reached with Tab.
function rove(elements, place) {
  elements.forEach((each, i) => {
    each.tabIndex = i === place ? 0 : -1;
  });
}

/// Of the buttons of `root` one is chosen, and can be reached with Tab.
function check(root, place, attribute = "aria-checked") {
  const buttons = root.querySelectorAll("button");
  rove(buttons, place);
  buttons.forEach((each, i) => each.setAttribute(attribute, String(i === place)));
}

/// Where an arrow key, Home or End leads from `place` among `count`; undefined for other keys.
function moved(key, place, count, back = ["ArrowLeft", "ArrowUp"], on = ["ArrowRight", "ArrowDown"]) {
  if (back.includes(key)) {
    return Math.max(place - 1, 0);
  }
  if (on.includes(key)) {
    return Math.min(place + 1, count - 1);
  }
  return { Home: 0, End: count - 1 }[key];
}

/// Where a key leads from [row, column] of a grid: arrows to its neighbours, Home and End along the row, with Ctrl along the column, too,
/// and where there are pages of so many rows, page keys; undefined for other keys.
function movedInGrid(key, [row, column], [rows, columns], { page, mirrored, ctrlKey } = {}) {
  const [back, on] = mirrored ? ["ArrowRight", "ArrowLeft"] : ["ArrowLeft", "ArrowRight"];
  const along = ctrlKey ? rows : 0;
  const way = {
    ArrowUp: [-1, 0], ArrowDown: [1, 0], [back]: [0, -1], [on]: [0, 1],
    PageUp: page && [-page, 0], PageDown: page && [page, 0], Home: [-along, -columns], End: [along, columns],
  }[key];
  return way && [[row + way[0], rows], [column + way[1], columns]].map(([place, count]) => Math.min(Math.max(place, 0), count - 1));
}

/// A key does what `use` does, or where that returns false, what it does anywhere.
function listenToKeys(root, use) {
  root.addEventListener("keydown", (event) => use(event) !== false && event.preventDefault());
}

/// Clicks and arrow keys choose among the buttons of `root`.
function listenToChoice(root, onChoose, ...keys) {
  const buttons = () => [...root.querySelectorAll("button:enabled")];
  root.addEventListener("click", ({ target }) => {
    const place = buttons().indexOf(target.closest("button"));
    place >= 0 && onChoose(place);
  });
  listenToKeys(root, ({ key, target }) => {
    const place = buttons().indexOf(target);
    const at = place < 0 ? undefined : moved(key, place, buttons().length, ...keys);
    if (at === undefined) {
      return false;
    }
    onChoose(at);
    buttons()[at].focus();
  });
}

/// They are words, and the pointer is over one of them, or over none: null.
function listenToWords(root, onChoose, onPoint, ...keys) {
  listenToChoice(root, onChoose, ...keys);
  root.addEventListener("pointerover", ({ target, pointerType }) => {
    const place = [...root.querySelectorAll("button")].indexOf(target.closest("button"));
    pointerType !== "touch" && onPoint(place < 0 ? null : place);
  });
  root.addEventListener("pointerleave", () => onPoint(null));
}

/// Scrolls a box to what stands in it at `top`.
function revealIn(box, top, height) {
  if (top < box.scrollTop || top + height > box.scrollTop + box.clientHeight) {
    box.scrollTop = top - (box.clientHeight - height) / 2;
  }
}
