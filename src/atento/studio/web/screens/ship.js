// Use it elsewhere: predictions of a dropped file, the commands and the Python to copy, and where the model lies.

import { button, fact, make, problemCard, said } from "../elements.js";
import { loading, runHead } from "../inside/run_head.js";
import { quoted } from "../inside/shell.js";
import { copyButton, sameDrawer } from "../same.js";

export const path = "/runs/:id/ship";
export const title = (words) => words("links.ship");

export async function show(box, { params, api, words }) {
  const loaded = loading(box, words);
  const [run, examples] = await Promise.all([api.get(api.run(params.id)), api.get(api.run(params.id, "examples"))]);
  loaded();
  const folder = run.folder ?? `runs/${run.id}`;
  const example = examples.typed ? (examples.sources[0] ?? "").replaceAll("\t", " ||| ") : "";
  box.append(
    runHead(run, "ship", words),
    predictPart(params.id, api, words),
    commandsPart(folder, example, run, words),
    pythonPart(folder, example, words),
    folderPart(folder, examples.files ?? [], words));
}

function predictPart(id, api, words) {
  const input = make("input", { type: "file", className: "hidden", tabIndex: -1, ariaLabel: words("ship.choose") });
  const state = make("div", { role: "status" });
  const zone = make("div", { className: "drop small-drop" }, make("span", { textContent: words("ship.drop") }), button(words("ship.choose"), () => input.click(), { kind: "primary" }), input);

  async function take([file]) {
    if (!file) return;
    state.replaceChildren(make("p", { className: "note", textContent: words("ship.predicting", { file: file.name }) }));
    try {
      const found = await api.upload(`${api.run(id, "predict")}?name=${encodeURIComponent(file.name)}`, file);
      const address = `/api/files/${found.name.split("/").map(encodeURIComponent).join("/")}`;
      state.replaceChildren(
        make("p", {}, make("a", { className: "button primary", href: address, download: found.name.split("/").pop(), textContent: words("ship.download") }), " ", ...words.parts("ship.written", { file: make("bdi", { textContent: found.name }) })),
        ...(found.notes ?? []).map((note) => said(note, "p", { className: "note" })),
        found.same ? sameDrawer(found.same, words) : "");
    } catch (error) {
      state.replaceChildren(problemCard(error, words));
    }
    input.value = "";
  }

  input.addEventListener("change", () => take(input.files));
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(event.dataTransfer.files);
  });
  return make("section", { className: "tight" }, make("h2", { textContent: words("ship.predict") }), make("p", { className: "note", textContent: words("ship.predict_note") }), zone, state);
}

function commandsPart(folder, example, run, words) {
  const place = quoted(folder);
  const lines = [
    ["ship.try", `atento try ${place}`],
    ["ship.predict_command", `atento predict ${place} new.csv --out answers.csv`],
    ["ship.evaluate", `atento evaluate ${place} labelled.csv`],
    ["ship.look", `atento look ${place}${example ? ` ${quoted(example)}` : ""} --out attention.html`],
    ["ship.check", `atento check ${place}`],
    ["ship.report", `atento report ${place}`],
    ["ship.serve", `atento serve ${place}`],
  ];
  return make("section", { className: "tight" }, make("h2", { textContent: words("ship.commands") }), make("p", { className: "note", textContent: words("ship.commands_note") }),
    make("dl", { className: "commands" }, lines.map(([key, line]) => make("div", {}, make("dt", { textContent: words(key) }), make("dd", {}, make("pre", { className: "command", tabIndex: 0 }, make("code", { textContent: line })), copyButton(words, () => line, words(key)))))));
}

function pythonPart(folder, example, words) {
  const lines = [
    "import atento",
    "",
    `run = atento.load(${JSON.stringify(folder)})`,
    example ? `print(run.predict([${JSON.stringify(example)}]))` : "",
    'run.predict_file("new.csv", out="answers.csv")',
    'print(run.evaluate("labelled.csv"))',
    "print(run.check())",
  ].filter((line, at) => line || at === 1).join("\n");
  return make("section", { className: "tight" }, make("h2", { textContent: "Python" }), make("div", { className: "same-text" }, copyButton(words, () => lines, "Python"), make("pre", { className: "command", tabIndex: 0 }, make("code", { textContent: lines }))));
}

function folderPart(folder, files, words) {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  return make("section", { className: "tight" }, make("h2", { textContent: words("ship.folder") }),
    make("dl", { className: "facts-line" }, fact(words("ship.where"), make("bdi", { textContent: folder })), total ? fact(words("ship.size"), sizeOf(total, words)) : null, fact(words("ship.checked"), words("ship.checked_text"))),
    make("p", { className: "note", textContent: words("ship.folder_note") }),
    files.length ? make("details", { className: "rest" }, make("summary", { textContent: words("ship.files", { count: files.length }) }), make("ul", {}, files.map(({ name, bytes }) => make("li", {}, make("bdi", { textContent: name }), ` · ${sizeOf(bytes, words)}`)))) : null);
}

function sizeOf(bytes, words) {
  const [unit, size] = bytes >= 1e9 ? ["GB", 1e9] : bytes >= 1e6 ? ["MB", 1e6] : bytes >= 1e3 ? ["kB", 1e3] : ["B", 1];
  return `${words.number(bytes / size, bytes / size < 10 && size > 1 ? 1 : 0)} ${unit}`;
}
