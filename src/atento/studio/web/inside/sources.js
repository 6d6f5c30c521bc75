// Where a source comes from: typed, chosen among the test examples, or, of images, a dropped file.

import { button, make, problemCard } from "../elements.js";

const LONGEST_OPTION = 70; // characters
const IMAGES = ["image", "image and question"];
const SEPARATOR = "\t"; // between the items of a source that is a list
const TYPED = " ||| "; // the same, where a tab cannot be typed

/**
 * A field for a source. `changed(source)` is called when another one is chosen, and some time after the last key.
 * Returns { element, set(source), value() }.
 */
export function sourceField({ kind, typed, sources }, { words, api, changed, wait = 450 }) {
  let timer = 0, current = sources[0] ?? "";
  const readable = (source) => (typed ? source.replaceAll(SEPARATOR, kind === "two texts" ? TYPED : " ") : source);
  const text = make("textarea", { rows: 3, name: "source", dir: "auto", spellcheck: false, value: readable(current), ariaLabel: words("try.source") });
  const menu = make("select", { name: "example", ariaLabel: words("try.example") }, make("option", { value: "", textContent: words("try.choose_example") }),
    sources.map((source, at) => make("option", { value: at, textContent: shortened(readable(source)) })));
  const troubles = make("div");

  function choose(source, { quietly = false } = {}) {
    clearTimeout(timer);
    current = source;
    if (typed) text.value = readable(source);
    if (!quietly) changed(current);
  }

  text.addEventListener("input", () => {
    clearTimeout(timer);
    menu.value = "";
    current = text.value;
    timer = setTimeout(() => changed(current), wait);
  });
  menu.addEventListener("change", () => menu.value && choose(sources[menu.value]));
  if (!typed && sources.length) menu.value = "0";
  const parts = [
    typed ? text : null,
    sources.length ? make("div", { className: "source-tools" }, menu, button(words("try.another"), another)) : null,
    IMAGES.includes(kind) ? dropped() : null,
    kind === "two texts" ? make("p", { className: "note", textContent: words("try.two_texts") }) : null,
    troubles,
  ];

  function another() {
    const at = (Math.max(0, sources.indexOf(current)) + 1) % sources.length;
    menu.value = String(at);
    choose(sources[at]);
  }

  function dropped() {
    const input = make("input", { type: "file", accept: "image/*", className: "hidden", tabIndex: -1, ariaLabel: words("try.choose_image") });
    const zone = make("div", { className: "drop small-drop" }, make("span", { textContent: words("try.drop_image") }), button(words("try.choose_image"), () => input.click()), input);
    const take = async ([file]) => {
      if (!file) return;
      try {
        troubles.replaceChildren();
        const { name } = await api.upload(`/api/files?name=${encodeURIComponent(file.name)}`, file);
        const question = current.split(SEPARATOR)[1];
        choose(kind === "image" || !question ? name : `${name}${SEPARATOR}${question}`);
      } catch (error) {
        troubles.replaceChildren(problemCard(error, words));
      }
    };
    input.addEventListener("change", () => take(input.files));
    zone.addEventListener("dragover", (event) => event.preventDefault());
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      take(event.dataTransfer.files);
    });
    return zone;
  }

  return {
    element: make("div", { className: "source" }, parts),
    set: (source) => choose(source, { quietly: true }),
    value: () => current,
    stop: () => clearTimeout(timer),
  };
}

/** A text cut to what a menu shows, its end more telling than nothing. */
function shortened(text) {
  const letters = [...text];
  return letters.length <= LONGEST_OPTION ? text : `${letters.slice(0, LONGEST_OPTION - 1).join("")}…`;
}

/** Ask the newest question only: an older one that is still open is dropped, and its answer never shown. */
export function newestOnly() {
  let control = new AbortController();
  const ask = async (act) => {
    control.abort();
    control = new AbortController();
    const { signal } = control;
    try {
      const answer = await act(signal);
      return signal.aborted ? null : { answer };
    } catch (error) {
      return signal.aborted ? null : { error };
    }
  };
  ask.stop = () => control.abort();
  return ask;
}
