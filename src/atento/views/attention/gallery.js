// The part of a page that chooses: which example, which models. It stands after viewer.js in the same module.

const SHOWN_AT_FIRST = matchMedia("(max-width: 760px)").matches ? 2 : 4; // models side by side

function openGallery(place, { examples, scale }) {
  const models = [...new Set(examples.flatMap((example) => example.panels.map((panel) => panel.model)))];
  const shown = new Set(models.slice(0, SHOWN_AT_FIRST));
  const chooser = make("select", { id: "example", className: "example" });
  const tiles = make("div", { className: "tiles" });
  const words = make("dl", { className: "example-words" });
  let open = [];

  function show() {
    open.forEach((view) => view.remove());
    const example = examples[Number(chooser.value)];
    words.replaceChildren(...(example.image ? imageFact(example.image) : fact("Source", example.source)), ...(example.reference ? fact("Reference", example.reference) : []));
    const panels = example.panels.filter((panel) => example.panels.length === 1 || shown.has(panel.model));
    tiles.classList.toggle("single", panels.length === 1);
    tiles.replaceChildren();
    open = panels.map((panel) => {
      const tile = make("article", { className: "tile" });
      const stage = make("div", { className: "stage" });
      tile.append(make("h3", { textContent: panel.model || "Attention", dir: "auto" }), outcome(panel, example), stage);
      tiles.append(tile);
      const view = example.image ? showRegions : showAttention;
      return view(stage, { ...panel, image: example.image, weights: scaled(panel.weights, scale), label: `Attention of ${panel.model}` });
    });
    if (!panels.length) tiles.append(make("p", { textContent: "None of the ticked models has this example." }));
  }

  chooser.append(...optionGroups(examples));
  chooser.addEventListener("change", show);
  const controls = make("div", { className: "choices" });
  if (examples.length > 1) {
    const row = make("div", { className: "chooser" });
    row.append(make("label", { htmlFor: "example", textContent: "Example" }), chooser, step("previous", -1), step("next", 1));
    controls.append(row);
  }
  if (models.length > 1) controls.append(modelChoice());
  place.replaceChildren(controls, words, tiles);
  show();

  function step(name, by) {
    const button = make("button", { type: "button", textContent: name });
    button.addEventListener("click", () => {
      chooser.value = String((Number(chooser.value) + by + examples.length) % examples.length);
      show();
    });
    return button;
  }

  function modelChoice() {
    const box = make("fieldset", { className: "models" });
    box.append(make("legend", { textContent: "Models" }));
    models.forEach((model) => {
      const tick = make("input", { type: "checkbox", value: model, checked: shown.has(model) });
      tick.addEventListener("change", () => {
        if (tick.checked) shown.add(model);
        else shown.delete(model);
        show();
      });
      const label = make("label");
      label.append(tick, make("bdi", { textContent: model }));
      box.append(label);
    });
    return box;
  }
}

function optionGroups(examples) {
  const names = { chosen: "Chosen examples", worst: "Worst examples" };
  return Object.entries(names).map(([kind, label]) => {
    const group = make("optgroup", { label });
    examples.forEach((example, index) => {
      if ((example.kind === "worst") !== (kind === "worst")) return;
      const alone = kind === "worst" && example.panels.length === 1 ? `${example.panels[0].model}: ` : "";
      group.append(make("option", { value: index, textContent: alone + cut(example.source, 60) }));
    });
    return group;
  }).filter((group) => group.childElementCount);
}

function outcome(panel, example) {
  const line = make("p", { className: "outcome" });
  const wrote = make("bdi", { textContent: panel.wrote || "nothing" });
  const known = typeof panel.correct === "boolean";
  if (known) line.append(make("span", { className: panel.correct ? "right" : "wrong", textContent: panel.correct ? "right" : "wrong" }), " ");
  line.append("wrote ", wrote);
  if (known && !panel.correct && example.reference) line.append(", should be ", make("bdi", { textContent: example.reference }));
  return line;
}

function fact(name, text) {
  return [make("dt", { textContent: name }), make("dd", { textContent: text, dir: "auto" })];
}

function imageFact(image) {
  const shown = make("dd");
  shown.append(make("img", { src: image, alt: "the image that was read", className: "read-image" }));
  return [make("dt", { textContent: "Image" }), shown];
}

function scaled(weights, scale) {
  const divide = (weight) => (weight === null ? null : weight / scale);
  return weights.map((heads) => heads.map((rows) => rows.map((cells) => cells.map(divide))));
}

function cut(text, most) {
  const letters = [...text];
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}

// On paper nothing can be clicked: what was folded is opened, and folded again afterwards.
function unfoldForPrint() {
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach((details) => { details.open = false; }));
}

const stored = document.getElementById("alignments");
if (stored) openGallery(document.getElementById("gallery"), JSON.parse(stored.textContent));
unfoldForPrint();
