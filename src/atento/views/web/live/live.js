// A live picture: sliders and a play button choose one of the frames that Python computed; the pointer and the arrow
// keys read its values. The page holds one picture, in every language it has words for.

import { valueText } from "../charts/scales.js";
import { button, make } from "../charts/copying.js";
import { element } from "../charts/drawing.js";
import { drawPanel, tableOf } from "./panels.js";

const TEXTS = {
  en: { play: "Play", pause: "Pause", table: "The numbers of this frame", save: "Save as", other: "Español", keys: "Sliders: arrow keys. In a panel: arrow keys read its values." },
  es: { play: "Reproducir", pause: "Pausa", table: "Los números de este cuadro", save: "Guardar como", other: "English", keys: "Deslizadores: teclas de flecha. En un panel, las flechas leen sus valores." },
};
const NEAR = 50; // pixels from which a mark is still read
const SHOW = 7000; // milliseconds of a whole pass, at most
const STACKED = 330; // pixels below which panels stand below each other
const COPIED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight", "paint-order", "visibility"];

/** Show a picture in an element; returns { at, go }. */
export function showPicture(root, data) {
  const own = navigator.language?.slice(0, 2);
  const state = { language: data.language ?? (own in data.words ? own : "en"), at: data.sliders.map(({ start }) => start), timer: null };
  const say = (text) => data.words[state.language]?.[text] ?? text;
  const number = (value) => valueText(value, "number", state.language);
  const stop = (value) => (typeof value === "number" ? number(value) : say(value));
  const texts = () => TEXTS[state.language] ?? TEXTS.en;
  const frame = () => data.sliders.reduce((place, { stops }, at) => place * stops.length + state.at[at], 0);

  const title = make("h1"), note = make("p", { className: "note" }), caption = make("p", { className: "caption" });
  const readout = make("p", { className: "readout", role: "status" }), hint = make("p", { className: "hint" });
  const play = button("", () => (state.timer ? pause() : start()), "play");
  const other = button("", () => { state.language = state.language === "es" ? "en" : "es"; document.documentElement.lang = state.language; redraw(); }, "other");
  const knobs = data.sliders.map((slider, at) => {
    const name = make("span"), value = make("output"), input = make("input", { type: "range", min: 0, max: slider.stops.length - 1, step: 1, value: state.at[at] });
    input.addEventListener("input", () => { pause(); go(at, Number(input.value)); });
    return { slider, name, value, input, label: make("label", {}, name, input, value) };
  });
  const controls = make("div", { className: "controls" }, ...(data.sliders.length ? [play] : []), ...knobs.map(({ label }) => label));
  const panels = data.frames[0].map((_, at) => {
    const svg = element("svg", { tabindex: 0, role: "img" }), over = element("rect", { class: "reading", visibility: "hidden" });
    const panel = { svg, over, heading: make("h2"), marks: [], active: -1, at };
    svg.addEventListener("pointermove", (event) => read(panel, nearest(panel, event)));
    svg.addEventListener("pointerleave", () => read(panel, -1));
    svg.addEventListener("keydown", (event) => travel(panel, event));
    return Object.assign(panel, { figure: make("figure", {}, panel.heading, svg) });
  });
  const area = make("div", { className: "panels" }, ...panels.map(({ figure }) => figure));
  const table = make("details", {}, make("summary"), make("div", { className: "scroll" }));
  const saving = make("span"), saves = make("p", { className: "saves" }, saving, button("PNG", savePng), button("SVG", () => save(wholeSvg(), "svg")));
  table.addEventListener("toggle", fillTable);
  const head = make("header", {}, title, ...(Object.keys(data.words).length ? [other] : []));
  root.append(head, area, note, controls, readout, caption, make("footer", {}, saves, table, hint));

  function go(at, place) {
    state.at[at] = place;
    redraw();
  }

  function start() {
    const [first] = data.sliders, last = first.stops.length - 1;
    if (state.at[0] === last) go(0, 0);
    state.timer = setInterval(() => { if (state.at[0] === last) pause(); else go(0, state.at[0] + 1); }, Math.min(700, SHOW / last));
    play.textContent = `❚❚ ${texts().pause}`;
  }

  function pause() {
    clearInterval(state.timer);
    state.timer = null;
    play.textContent = `▶ ${texts().play}`;
  }

  /** Texts first, since they take the height that the panels do not have. */
  function redraw() {
    title.textContent = say(data.title);
    title.hidden = !data.title;
    note.textContent = data.notes[state.language]?.[frame()] ?? data.notes.en?.[frame()] ?? "";
    note.hidden = !data.notes.en;
    caption.textContent = say(data.caption);
    other.textContent = texts().other;
    other.lang = state.language === "es" ? "en" : "es";
    hint.textContent = texts().keys;
    saving.textContent = `${texts().save} `;
    table.firstChild.textContent = texts().table;
    if (!state.timer) play.textContent = `▶ ${texts().play}`;
    knobs.forEach(({ slider, name, value, input }, at) => {
      const text = stop(slider.stops[state.at[at]]);
      name.textContent = say(slider.name);
      value.textContent = text;
      value.style.minWidth = `${Math.max(...slider.stops.map((one) => stop(one).length)) * 0.6}em`;
      input.value = state.at[at];
      input.setAttribute("aria-valuetext", text);
    });
    drawPanels();
    fillTable();
  }

  function drawPanels() {
    const width = area.clientWidth, shown = data.frames[frame()].map((place) => data.panels[place]);
    if (!width) return;
    const charts = shown.filter(({ kind }) => kind !== "cells").length, stacked = width / Math.max(1, charts) < STACKED;
    const font = Math.min(Math.max(width / 58, 13), 24);
    area.style.setProperty("--columns", stacked ? 1 : Math.max(1, charts));
    panels.forEach((self, at) => {
      const { heading } = self, panel = shown[at], isStrip = panel.kind === "cells", [strip, most] = [panel.rows?.length * font * 2.7, (stacked || isStrip ? width : width / charts) * 0.75];
      heading.textContent = say(panel.title);
      heading.hidden = !panel.title;
      self.height = isStrip ? strip : Math.max(230, Math.min(most, 0));
      self.most = isStrip ? strip : most;
      heading.parentNode.classList.toggle("strip", isStrip);
      self.svg.setAttribute("height", self.height);
    });
    const spare = window.innerHeight - root.getBoundingClientRect().bottom - window.scrollY - 8; // the window's height that is left
    panels.forEach((self, at) => {
      const panel = shown[at], inner = self.figure.clientWidth;
      self.height = panel.kind === "cells" ? self.height : Math.max(self.height, Math.min(self.most, self.height + Math.max(0, spare) / (stacked ? charts : 1)));
      Object.entries({ viewBox: `0 0 ${inner} ${self.height}`, width: inner, height: self.height, "font-size": font }).forEach(([name, value]) => self.svg.setAttribute(name, value));
      self.marks = drawPanel(self.svg, panel, { width: inner, height: self.height, font, say, number });
      self.svg.append(self.over);
      self.svg.setAttribute("aria-label", [panel.title || data.title, panel.up, panel.across].filter(Boolean).map(say).join(", "));
      if (self.active >= 0) read(self, Math.min(self.active, self.marks.length - 1));
    });
  }

  function nearest(panel, event) {
    const box = panel.svg.getBoundingClientRect(), [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const inside = panel.marks.findIndex((mark) => mark.width && x >= mark.x && x <= mark.x + mark.width && y >= mark.y && y <= mark.y + mark.height);
    if (inside >= 0) return inside;
    return panel.marks.reduce((best, mark, at) => {
      const distance = mark.width ? Infinity : Math.hypot(mark.x - x, mark.y - y);
      return distance < best.distance ? { at, distance } : best;
    }, { at: -1, distance: NEAR }).at;
  }

  function read(panel, at) {
    const mark = panel.marks[at];
    panel.active = mark ? at : -1;
    readout.textContent = mark?.text ?? "";
    panel.over.setAttribute("visibility", mark ? "visible" : "hidden");
    const box = mark?.width ? mark : { x: mark?.x - 6, y: mark?.y - 6, width: 12, height: 12 };
    if (mark) ["x", "y", "width", "height"].forEach((name) => panel.over.setAttribute(name, box[name]));
  }

  function travel(panel, event) {
    const { marks, active } = panel, here = marks[active];
    const beside = (row) => marks.findIndex((mark) => mark.row === row && Math.abs(mark.x - here.x) < 2);
    const first = (row) => marks.findIndex((mark) => mark.row === row);
    const moves = { ArrowRight: () => Math.min(active + 1, marks.length - 1), ArrowLeft: () => Math.max(active - 1, 0), ArrowDown: () => [beside(here.row + 1), first(here.row + 1), active].find((at) => at >= 0), ArrowUp: () => [beside(here.row - 1), first(here.row - 1), active].find((at) => at >= 0), Escape: () => -1 };
    if (!moves[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    read(panel, here || event.key === "Escape" ? moves[event.key]() : 0);
  }

  function fillTable() {
    if (!table.open) return;
    table.lastChild.replaceChildren(...data.frames[frame()].map((place) => {
      const { head, rows } = tableOf(data.panels[place], { say, number });
      const line = (cells, name) => make("tr", {}, ...cells.map((text, at) => make(at && name === "td" ? "td" : "th", { textContent: text })));
      return make("table", {}, make("caption", { textContent: say(data.panels[place].title) }), make("thead", {}, line(head, "th")), make("tbody", {}, ...rows.map((row) => line(row, "td"))));
    }));
  }

  /** All panels as one SVG: every colour is written on its element. */
  function wholeSvg() {
    const box = area.getBoundingClientRect(), whole = element("svg", { xmlns: "http://www.w3.org/2000/svg", width: box.width, height: box.height + 34 });
    whole.append(element("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor }));
    const ink = getComputedStyle(root), text = (x, y, words, size) => element("text", { x, y, fill: ink.color, "font-size": size, "font-family": ink.fontFamily }, words);
    whole.append(text(4, 20, [say(data.title), ...data.sliders.map(({ name, stops }, at) => `${say(name)} ${stop(stops[state.at[at]])}`)].filter(Boolean).join(" · "), 16));
    panels.forEach(({ svg, heading }) => {
      const place = svg.getBoundingClientRect(), copy = svg.cloneNode(true);
      const [from, to] = [[svg, ...svg.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
      from.forEach((one, at) => COPIED.forEach((name) => to[at].setAttribute(name, getComputedStyle(one).getPropertyValue(name))));
      Object.entries({ x: place.left - box.left, y: place.top - box.top + 30 }).forEach(([name, value]) => copy.setAttribute(name, value));
      if (heading.textContent) whole.append(text(place.left - box.left, place.top - box.top + 24, heading.textContent, 14));
      whole.append(copy);
    });
    return new XMLSerializer().serializeToString(whole);
  }

  function save(content, ending) {
    const href = typeof content === "string" ? URL.createObjectURL(new Blob([content], { type: "image/svg+xml" })) : URL.createObjectURL(content);
    make("a", { href, download: `${say(data.title).replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "picture"}.${ending}` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }

  function savePng() {
    const image = new Image();
    image.addEventListener("load", () => {
      const canvas = make("canvas", { width: image.width * 2, height: image.height * 2 });
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, "png"));
    });
    image.src = `data:image/svg+xml,${encodeURIComponent(wholeSvg())}`;
  }

  let seen = "";
  new ResizeObserver(() => {
    const size = `${root.clientWidth} ${window.innerHeight}`;
    if (size !== seen) drawPanels();
    seen = size;
  }).observe(document.documentElement);
  redraw();
  return { state, go };
}

showPicture(document.getElementById("live"), JSON.parse(document.getElementById("live-picture").textContent));
