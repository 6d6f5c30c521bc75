// A map of words: drag to move, wheel or + and − to zoom, search for a word; the word pointed at shows its neighbours.

document.querySelectorAll("[data-words]").forEach((place) => showWords(place, JSON.parse(document.getElementById(place.dataset.words).textContent)));

/** Show `data`: { words, places: [[x, y], …], near: [[[word, cosine], …], …], terms }. */
function showWords(place, data) {
  const LETTER = 7.2, LINE = 15, DOT = 3.5;
  const extents = [0, 1].map((axis) => {
    const values = data.places.map((one) => one[axis]);
    return { low: Math.min(...values), high: Math.max(...values) };
  });
  const whole = { x: (extents[0].low + extents[0].high) / 2, y: (extents[1].low + extents[1].high) / 2, zoom: 1 };
  const numbers = new Map(data.words.map((word, at) => [word, at]));
  const svg = node("svg", { class: "chart live-words", tabindex: "0", role: "img", "aria-label": `A map of ${data.words.length} words; arrow keys move it, + and − zoom, 0 shows all` });
  const list = Object.assign(document.createElement("datalist"), { id: "word-map-list" });
  list.append(...data.words.map((word) => Object.assign(document.createElement("option"), { value: word })));
  const search = Object.assign(document.createElement("input"), { type: "search", placeholder: "search for a word" });
  search.setAttribute("list", list.id);
  search.setAttribute("aria-label", "search for a word");
  const all = Object.assign(document.createElement("button"), { type: "button", className: "small", textContent: "Show all" });
  const said = Object.assign(document.createElement("p"), { className: "note words-readout", textContent: "Point at a word to see its neighbours." });
  said.setAttribute("role", "status");
  const tools = Object.assign(document.createElement("div"), { className: "chart-controls" });
  tools.append(search, all, list);
  place.classList.add("enhanced");
  place.append(tools, svg, said);
  const links = node("g", {}), dots = data.words.map((word, at) => {
    const group = node("g", { class: data.terms.includes(word) ? "map-word term" : "map-word", "data-at": at });
    const label = node("text", { dir: "auto" });
    label.textContent = word;
    group.append(node("circle", { r: DOT }), label);
    return group;
  });
  svg.append(links, ...dots);
  let view = { ...whole }, chosen = -1, width = 0, height = 0;

  /** Pixels for a unit of the map: at zoom 1 all words fit. */
  const scaleAt = (zoom) => zoom * Math.min((width - 110) / (extents[0].high - extents[0].low || 1), (height - 40) / (extents[1].high - extents[1].low || 1));
  const toScreen = ([x, y]) => [width / 2 + (x - view.x) * scaleAt(view.zoom), height / 2 + (y - view.y) * scaleAt(view.zoom)];

  function draw() {
    width = place.clientWidth;
    height = Math.min(560, Math.max(340, width * 0.7));
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    const near = new Set(chosen < 0 ? [] : data.near[chosen].map(([word]) => numbers.get(word)));
    const places = data.places.map(toScreen), taken = places.map(([x, y]) => [x - DOT, y - DOT, x + DOT, y + DOT]);
    const order = dots.map((_, at) => at).sort((one, other) => rank(other, near) - rank(one, near) || one - other);
    order.forEach((at) => {
      const [x, y] = places[at], label = dots[at].lastChild, room = data.words[at].length * LETTER;
      const box = [x + 6, y - LINE / 2, x + 6 + room, y + LINE / 2];
      const shown = x > -20 && x < width + 20 && y > -20 && y < height + 20;
      const free = shown && box[2] < width && !taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
      dots[at].firstChild.setAttribute("cx", x);
      dots[at].firstChild.setAttribute("cy", y);
      label.setAttribute("x", x + 7);
      label.setAttribute("y", y + 4);
      label.style.display = free ? "" : "none";
      dots[at].classList.toggle("chosen", at === chosen);
      dots[at].classList.toggle("near", near.has(at));
      if (free) taken.push(box);
    });
    links.replaceChildren(...[...near].filter((at) => at !== undefined).map((at) => node("line", { class: "map-link", x1: places[chosen][0], y1: places[chosen][1], x2: places[at][0], y2: places[at][1] })));
  }

  const rank = (at, near) => (at === chosen ? 3 : near.has(at) ? 2 : data.terms.includes(data.words[at]) ? 1 : 0);

  function choose(at) {
    chosen = at;
    if (at >= 0) said.textContent = `nearest to ${data.words[at]}: ${data.near[at].map(([word, cosine]) => `${word} ${cosine.toFixed(2)}`).join(", ")}`;
    draw();
  }

  function zoomBy(factor, x = width / 2, y = height / 2) {
    const zoom = Math.min(Math.max(view.zoom * factor, 1), 40), before = scaleAt(view.zoom), after = scaleAt(zoom);
    view = { x: view.x + (x - width / 2) * (1 / before - 1 / after), y: view.y + (y - height / 2) * (1 / before - 1 / after), zoom };
    draw();
  }

  function moveBy(x, y) {
    view = { ...view, x: view.x - x / scaleAt(view.zoom), y: view.y - y / scaleAt(view.zoom) };
    draw();
  }

  const reset = () => { view = { ...whole }; draw(); };
  all.addEventListener("click", reset);
  search.addEventListener("input", () => {
    const asked = search.value.trim().toLowerCase();
    const at = data.words.findIndex((word) => word.toLowerCase() === asked);
    if (asked && at < 0) { said.textContent = `${search.value} is not on this map.`; return; }
    if (at < 0) return;
    view = { x: data.places[at][0], y: data.places[at][1], zoom: Math.max(view.zoom, 4) };
    choose(at);
  });
  svg.addEventListener("pointermove", (event) => {
    if (event.buttons) { moveBy(event.movementX, event.movementY); return; }
    const at = event.target.closest?.(".map-word")?.dataset.at;
    if (at !== undefined && Number(at) !== chosen) choose(Number(at));
  });
  svg.addEventListener("pointerdown", (event) => svg.setPointerCapture(event.pointerId));
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect(), [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const apart = data.places.map(toScreen).map(([across, up]) => Math.hypot(across - x, up - y));
    const at = apart.indexOf(Math.min(...apart));
    if (apart[at] < 24) choose(at);
  });
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== svg) return;
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    zoomBy(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    const zoom = { "+": 1.4, "-": 1 / 1.4 }[event.key];
    if (!move && !zoom && event.key !== "0") return;
    event.preventDefault();
    if (event.key === "0") reset();
    else if (zoom) zoomBy(zoom);
    else moveBy(...move);
  });
  new ResizeObserver(() => place.clientWidth !== width && draw()).observe(place);
}

/** An SVG element with attributes. */
function node(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  return element;
}
