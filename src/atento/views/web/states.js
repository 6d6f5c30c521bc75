// Hidden states of a recurrent network: the text shaded by one unit, chosen by a pattern or by its number.

const statesPlace = document.getElementById("states");
const statesData = document.getElementById("states-data");
if (statesPlace && statesData) showStates(statesPlace, JSON.parse(statesData.textContent));

/** Show `data`: { tokens, part, shape: [units, tokens], numbers: base64 of float32, patterns, characters }. */
function showStates(element, data) {
  const [units, length] = data.shape;
  const numbers = new Float32Array(Uint8Array.from(atob(data.numbers), (letter) => letter.charCodeAt(0)).buffer);
  const pattern = labelled("pattern", "select");
  pattern.field.append(new Option("choose a unit by its number", ""), ...data.patterns.map((one, index) => new Option(`${one.pattern}: unit ${one.unit + 1}, r ${one.held_out.toFixed(2)}`, index)));
  const unit = labelled("unit", "input");
  Object.assign(unit.field, { type: "number", min: 1, max: units, value: 1 });
  const said = part("p", { className: "note", role: "status" });
  const text = part("p", { className: "states-text", dir: "auto", tabIndex: 0 });
  text.setAttribute("aria-label", "the text, shaded by the state of the unit");
  const spans = data.tokens.map((token) => part("span", { textContent: token.trim() ? token : token.includes("\n") ? "⏎\n" : "␣" }));
  spans.forEach((span, index) => text.append(...(index && !data.characters ? [" "] : []), span));
  const tools = part("div", { className: "states-tools" }, pattern.label, unit.label);
  element.replaceChildren(tools, text, legend(), said);
  pattern.field.addEventListener("change", () => {
    const one = data.patterns[Number(pattern.field.value)];
    if (pattern.field.value !== "" && one) show(one.unit);
  });
  unit.field.addEventListener("input", () => {
    pattern.field.value = "";
    show(Number(unit.field.value) - 1);
  });
  text.addEventListener("pointerover", ({ target }) => {
    const index = spans.indexOf(target);
    if (index >= 0) tell(index);
  });

  let shown = 0;
  function show(index) {
    shown = Math.min(Math.max(index || 0, 0), units - 1);
    unit.field.value = shown + 1;
    const states = numbers.subarray(shown * length, (shown + 1) * length);
    const largest = Math.max(1e-12, ...states.map(Math.abs));
    spans.forEach((span, at) => {
      const strength = Math.round(75 * Math.abs(states[at]) / largest);
      span.style.backgroundColor = strength ? `color-mix(in srgb, var(${states[at] > 0 ? "--step-above" : "--step-below"}) ${strength}%, transparent)` : "";
      span.title = states[at].toFixed(3);
    });
    said.textContent = `Unit ${shown + 1} of ${units} of ${data.part}: from ${Math.min(...states).toFixed(2)} to ${Math.max(...states).toFixed(2)}.`;
  }

  function tell(index) {
    said.textContent = `“${data.tokens[index]}”: state ${numbers[shown * length + index].toFixed(3)} of unit ${shown + 1}.`;
  }

  if (data.patterns.length) pattern.field.value = 0;
  show(data.patterns[0]?.unit ?? 0);
}

/** What the colours mean. */
function legend() {
  const [low, high] = [part("span", { textContent: "negative" }), part("span", { textContent: "positive" })];
  low.style.backgroundColor = "color-mix(in srgb, var(--step-below) 60%, transparent)";
  high.style.backgroundColor = "color-mix(in srgb, var(--step-above) 60%, transparent)";
  return part("p", { className: "note states-legend" }, low, " ", high);
}

/** A labelled form field. */
function labelled(name, kind) {
  const field = part(kind, { ariaLabel: name });
  return { field, label: part("label", {}, `${name} `, field) };
}

/** An element with properties and children. */
function part(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}
