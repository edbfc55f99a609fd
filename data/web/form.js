// The form of attn.html: a sentence and options make a command line; the program in this file runs it, and the page shows what it writes.

/// The bytes that src/web/attn_html.py wrote as text: 13 bits in two letters of 91. (Of base64 the file would be larger by a twelfth.)
function bytesOf(text, size) {
  const bytes = new Uint8Array(size);
  const digit = (i) => (text.charCodeAt(i) === 126 ? 60 : text.charCodeAt(i)) - 35; // "~" stands for "<"
  let [bits, count, next] = [0, 0, 0];
  for (let i = 0; i < text.length; i += 2) {
    bits |= (digit(i) + 91 * digit(i + 1)) << count;
    for (count += 13; count >= 8; count -= 8) {
      bytes[next++] = bits; // its last 8
      bits >>>= 8;
    }
  }
  return bytes;
}

async function unpacked(id) {
  const stream = new Blob([bytesOf(find(id).textContent, Number(find(id).dataset.size))]).stream().pipeThrough(new DecompressionStream("gzip"));
  find(id).remove(); // megabytes of text
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const pageFile = "page.html";

/// The JSON of an element of a page, in which each "<" is \u003c. The rest stays bytes: as text it would take twice the time.
function textIn(page, id) {
  const tag = new TextEncoder().encode(`id="${id}">`);
  let start = -1;
  do {
    start = page.indexOf(tag[0], start + 1);
  } while (start >= 0 && !tag.every((byte, i) => page[start + i] === byte));
  const begin = start + tag.length;
  return new TextDecoder().decode(page.subarray(begin, page.indexOf("<".charCodeAt(0), begin)));
}

class Form {
  constructor(root) {
    this.root = root;
    [this.sentence, this.source, this.file, this.options, this.error, this.command] = ["sentence", "source", "file", "options", "error", "command"].map((name) => find(`form-${name}`));
    this.fields = [...this.options.querySelectorAll("[name]")];
    this.own = null; // the recipe that was opened: its name, and the bytes of it and what lies beside it
    this.from = this.source.value;
    this.isCausal = false; // without an option that says so
    this.typed = this.sentence.value;
    root.addEventListener("submit", (event) => event.preventDefault());
    root.addEventListener("input", (event) => event.target !== this.source && event.target !== this.file && this.soon(event.target.matches("select, [type=checkbox]") ? 0 : 150));
    this.source.addEventListener("change", () => this.choose());
    this.file.addEventListener("change", () => this.open());
    find("form-copy").addEventListener("click", () => copyCommand(this.command, find("form-copy")));
    this.showCommand(this.request().args);
  }

  /// The program is there.
  start(program) {
    this.program = program;
    const listed = program.run(["recipe", "list"]).stdout;
    const recipes = new TextDecoder().decode(listed).trim().split("\n").map((line) => line.match(/^(\S+) +(.*)$/));
    find("form-recipes").append(...recipes.map(([, name, title]) => element("option", { value: `--recipe ${name}`, text: `${title} (${name})` })));
    this.tell("");
    String(this.request().args) === String(this.shown) || this.compute(); // changed while there was no program
  }

  /// What is wrong, and with which option; the picture is still that of before.
  tell(text) {
    this.error.textContent = text;
    this.fields.forEach((field) => field.setAttribute("aria-invalid", String(text.startsWith(`${field.name}:`))));
    find("columns").parentElement.classList.toggle("stale", Boolean(this.program) && text !== "");
  }

  showCommand(args) {
    this.shown = args;
    this.command.replaceChildren(...unbroken(["attn-cli", ...args].map(shellWord).join(" ")));
  }

  /// What has another value than without this option.
  said(field) {
    if (field.type === "checkbox") {
      const usual = field.name === "--causal" && this.isCausal;
      return field.checked === usual ? [] : (usual ? field.name.replace("--", "--no-") : field.name).split(" ");
    }
    const value = field.value.trim();
    return value === "" ? [] : [field.name, value];
  }

  /// The command line that the form says, and the files that it reads.
  request() {
    const source = this.source.value;
    const from = source === "file" ? ["--recipe", this.own?.name] : source.split(" ").filter(Boolean);
    const options = this.options.disabled ? [] : this.fields.flatMap((field) => this.said(field));
    const text = this.sentence.value.trim().replace(/\s+/g, " ");
    const sentence = text === "" && from[0] === "--recipe" ? [] : [text]; // a recipe has its own
    const after = text.startsWith("-");
    return { args: ["run", ...(after ? [] : sentence), ...from, ...options, "-o", pageFile, ...(after ? ["--", text] : [])], files: source === "file" ? this.own?.files : {} };
  }

  /// Of another source the options are its own.
  choose() {
    const source = this.source.value;
    const isRecipe = source === "file" || source.startsWith("--recipe");
    if (this.sentence.value !== "") {
      this.typed = this.sentence.value;
    }
    this.sentence.value = isRecipe ? "" : this.typed;
    this.sentence.placeholder = isRecipe ? "the words of the recipe, or yours" : "a sentence";
    find("form-file-row").hidden = source !== "file";
    this.options.disabled = source.startsWith("--model");
    find("form-note").hidden = !this.options.disabled;
    this.keptOptions = this.from === "" ? this.fields.map(({ checked, value, placeholder }) => ({ checked, value, placeholder })) : this.keptOptions;
    this.fields.forEach((field, i) => Object.assign(field, source === "" ? this.keptOptions[i] : { checked: field.name === "--show all" && isRecipe, value: "", placeholder: "its own" }));
    this.from = source;
    this.isCausal = false;
    this.learns = source !== ""; // whether it is causal by itself
    this.compute();
  }

  async open() {
    const chosen = [...this.file.files];
    const recipe = chosen.find(({ name }) => name.endsWith(".json"));
    if (recipe) {
      const read = async (file) => [file.name, new Uint8Array(await file.arrayBuffer())];
      this.own = { name: recipe.name, files: Object.fromEntries(await Promise.all(chosen.map(read))) };
      this.compute();
    }
  }

  soon(milliseconds) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.compute(), milliseconds);
  }

  compute() {
    clearTimeout(this.waiting);
    const wrong = this.fields.find((field) => field.validity.badInput);
    if (!this.program || wrong) {
      this.tell(wrong ? `${wrong.name}: not a number` : "The program is being unpacked …");
      return;
    }
    if (this.source.value === "file" && !this.own) {
      this.tell("Choose the file of the recipe.");
      return;
    }
    const { args, files } = this.request();
    const { exit, stderr, files: written } = this.program.run(args, files);
    if (exit !== 0) {
      this.tell(/error: (.*)/.exec(stderr)?.[1] ?? `The program ended with ${exit}.`);
      return;
    }
    show(textIn(written[pageFile], "result"), JSON.parse(textIn(written[pageFile], "asked")));
    if (this.learns && !args.includes("--causal")) {
      this.learns = false;
      this.isCausal = Boolean(result.attention.causal);
      this.fields.find(({ name }) => name === "--causal").checked = this.isCausal;
    }
    this.showCommand(args);
    this.tell("");
    announce(find("facts").textContent);
  }
}

const form = new Form(find("form"));
/// After the first picture.
requestAnimationFrame(() => setTimeout(async () => {
  try {
    form.start(await loadProgram(await unpacked("program")));
  } catch (error) {
    form.tell(`This browser cannot run the program: ${error.message}`);
  }
}));
