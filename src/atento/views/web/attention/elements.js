// Elements of a page and tokens as labels: what every part of the attention viewer uses.

export const FONT = "-apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', 'Helvetica Neue', Arial, sans-serif";
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
const LEFT_TO_RIGHT = /\p{L}/u;
const LONGEST_MEASURED = 200; // characters; longer labels never fit, and measuring them is slow

/** An element with properties, children, and ARIA attributes, which must be set by name. */
export function make(name, { role, aria = {}, data = {}, ...properties } = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  if (role) element.setAttribute("role", role);
  for (const [key, value] of Object.entries(aria)) element.setAttribute(`aria-${key}`, value);
  Object.assign(element.dataset, data);
  element.append(...children);
  return element;
}

/** A button that does one thing. */
export function makeButton(text, act, properties = {}) {
  const button = make("button", { type: "button", textContent: text, ...properties });
  button.addEventListener("click", act);
  return button;
}

/** A menu with a label; options are [value, text] pairs. */
export function makeMenu(name, options, value, changed) {
  const select = make("select", { name, ariaLabel: name });
  select.append(...options.map(([value, textContent]) => make("option", { value, textContent })));
  select.value = String(value);
  select.addEventListener("change", () => changed(select.value));
  return select;
}

/** A token as a label: blanks get a sign. */
export function visible(token) {
  const text = String(token).replace(/[\u0000-\u001f\u007f-\u009f]/g, "\ufffd");
  return text.trim() === "" ? "␣" : text;
}

export function quoted(token) {
  return make("bdi", { textContent: `“${visible(token)}”` });
}

export function areCharacters(tokens) {
  return tokens.filter((token) => [...token].length <= 1).length >= 0.8 * tokens.length;
}

/** Whether a line of tokens is read from right to left: by its first letter with a direction, as dir="auto" does. */
export function readsLeftward(tokens) {
  for (const letter of tokens.join("")) {
    if (RIGHT_TO_LEFT.test(letter)) return true;
    if (LEFT_TO_RIGHT.test(letter)) return false;
  }
  return false;
}

export function clamp(value, least, most) {
  return Math.max(least, Math.min(value, most));
}

export function cut(text, most) {
  const letters = [...text];
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}

/** A text as long as there is room for, by a function that measures texts. */
export function fitting(text, room, measure) {
  if (text.length <= LONGEST_MEASURED && measure(text) <= room) return text;
  const letters = [...text].slice(0, LONGEST_MEASURED);
  let [least, most] = [0, letters.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (measure(`${letters.slice(0, middle).join("")}…`) <= room) least = middle;
    else most = middle - 1;
  }
  return `${letters.slice(0, Math.max(least, 1)).join("")}…`;
}

/** A weight as people write it: three decimals, two digits when it is smaller. */
export function written(value) {
  if (!Number.isFinite(value)) return "no weight";
  if (value === 0 || Math.abs(value) >= 0.001) return value.toFixed(3);
  return value.toPrecision(2);
}

/** Set a canvas to a size in CSS pixels and return its context, scaled so that drawing is in those pixels. */
export function sized(canvas, width, height, detail) {
  const [wide, high] = [Math.max(1, Math.round(width * detail)), Math.max(1, Math.round(height * detail))];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  const context = canvas.getContext("2d");
  context.setTransform(wide / Math.max(width, 1), 0, 0, high / Math.max(height, 1), 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** Run a function once before the next frame, however often it is asked for. */
export function onceAFrame(act) {
  let asked = 0;
  const ask = () => {
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      act();
    });
  };
  ask.cancel = () => {
    cancelAnimationFrame(asked);
    asked = 0;
  };
  return ask;
}
