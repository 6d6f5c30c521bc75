// A heat map of signed numbers on a canvas: blue above 0, orange below; point at a cell, or move with the arrow keys.

document.querySelectorAll("[data-heat]").forEach((place) => showHeat(place, JSON.parse(document.getElementById(place.dataset.heat).textContent)));

/** Show `data`: { shape: [rows, columns], numbers: base64 of float32, across, down, first }. */
function showHeat(place, data) {
  const [rows, columns] = data.shape;
  const numbers = new Float32Array(Uint8Array.from(atob(data.numbers), (letter) => letter.charCodeAt(0)).buffer);
  const largest = numbers.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-12);
  const canvas = Object.assign(document.createElement("canvas"), { tabIndex: 0 });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `heat map, ${rows} × ${columns} (${data.down} × ${data.across}); arrow keys read it`);
  const names = Object.assign(document.createElement("p"), { className: "note", textContent: `down: ${data.down} · across: ${data.across} · blue above 0, orange below, largest ${largest.toPrecision(3)}` });
  const said = Object.assign(document.createElement("p"), { className: "note heat-readout" });
  said.setAttribute("role", "status");
  place.append(canvas, names, said);
  let cell = [0, 0], marked = false;

  function draw() {
    const width = place.clientWidth, height = Math.max(120, Math.min(360, rows * 12));
    const scale = window.devicePixelRatio || 1;
    Object.assign(canvas, { width: width * scale, height: height * scale });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    const style = getComputedStyle(canvas), paper = rgb(style.getPropertyValue("--paper")), context = canvas.getContext("2d");
    const [above, below] = [rgb(style.getPropertyValue("--step-above")), rgb(style.getPropertyValue("--step-below"))];
    const image = context.createImageData(columns, rows);
    numbers.forEach((value, at) => {
      const share = Math.abs(value) / largest, colour = value > 0 ? above : below;
      for (let part = 0; part < 3; part += 1) image.data[4 * at + part] = Math.round(paper[part] + share * (colour[part] - paper[part]));
      image.data[4 * at + 3] = 255;
    });
    const small = Object.assign(document.createElement("canvas"), { width: columns, height: rows });
    small.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, 0, 0, canvas.width, canvas.height);
    if (!marked) return;
    const [wide, high] = [canvas.width / columns, canvas.height / rows];
    context.strokeStyle = style.getPropertyValue("--ink");
    context.lineWidth = 2 * scale;
    context.strokeRect(cell[1] * wide, cell[0] * high, wide, high);
  }

  function tell(row, column) {
    cell = [Math.min(Math.max(row, 0), rows - 1), Math.min(Math.max(column, 0), columns - 1)];
    marked = true;
    const down = data.down === "position" ? cell[0] : cell[0] + 1;
    said.textContent = `${data.down} ${down}, ${data.across} ${cell[1] + data.first}: ${numbers[cell[0] * columns + cell[1]].toFixed(4)}`;
    draw();
  }

  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    tell(Math.floor(((event.clientY - box.top) / box.height) * rows), Math.floor(((event.clientX - box.left) / box.width) * columns));
  });
  canvas.addEventListener("pointerleave", () => { marked = false; draw(); });
  canvas.addEventListener("keydown", (event) => {
    const move = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key];
    if (!move) return;
    event.preventDefault();
    tell(cell[0] + move[0], cell[1] + move[1]);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new ResizeObserver(draw).observe(place);
}

/** The parts of a colour written as #rrggbb. */
function rgb(text) {
  const digits = text.trim().slice(1);
  return [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16));
}
