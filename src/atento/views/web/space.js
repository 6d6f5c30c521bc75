// A phase portrait in three dimensions: the true and the generated trajectory, turned together by drag or arrow keys.

document.querySelectorAll("[data-space]").forEach((place) => showSpace(place, JSON.parse(document.getElementById(place.dataset.space).textContent)));

/** Show `data`: { names: [x, y, z], true: [[x, y, z], …], generated: […] }. */
function showSpace(place, data) {
  const START = { turn: -0.9, tilt: 0.35, zoom: 1 };
  const state = { ...START };
  const bounds = [0, 1, 2].map((axis) => {
    const values = data.true.map((point) => point[axis]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return { middle: (low + high) / 2, half: (high - low) / 2 || 1 };
  });
  const said = Object.assign(document.createElement("p"), { className: "note space-readout" });
  said.setAttribute("role", "status");
  const panels = ["true", "generated"].map((which) => {
    const canvas = Object.assign(document.createElement("canvas"), { tabIndex: 0 });
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${which} trajectory in ${data.names.join(", ")}, ${data[which].length} points; arrow keys turn it`);
    const caption = Object.assign(document.createElement("figcaption"), { textContent: which === "true" ? "true" : "generated, on its own output" });
    const figure = document.createElement("figure");
    figure.append(caption, canvas);
    return { which, canvas, figure, points: data[which].map((point) => point.map((value, axis) => (value - bounds[axis].middle) / bounds[axis].half)) };
  });
  const pair = Object.assign(document.createElement("div"), { className: "space-pair" });
  pair.append(...panels.map(({ figure }) => figure));
  place.append(pair, said);

  /** From (x, y, z), each about −1 to 1, to pixels: turned about the vertical axis, then tilted. */
  function project([x, y, z], size) {
    const [sin, cos, rise, flat] = [Math.sin(state.turn), Math.cos(state.turn), Math.sin(state.tilt), Math.cos(state.tilt)];
    const [right, away] = [x * cos - y * sin, x * sin + y * cos];
    const scale = (size / 3.4) * state.zoom;
    return [size / 2 + scale * right, size / 2 - scale * (z * flat - away * rise)];
  }

  function draw() {
    panels.forEach(({ which, canvas, figure, points }) => {
      const size = Math.min(figure.clientWidth, 520), scale = window.devicePixelRatio || 1;
      Object.assign(canvas, { width: size * scale, height: size * scale });
      Object.assign(canvas.style, { width: `${size}px`, height: `${size}px` });
      const context = canvas.getContext("2d"), style = getComputedStyle(canvas);
      context.scale(scale, scale);
      const line = (path, colour, width) => {
        context.beginPath();
        path.forEach((point, at) => context[at ? "lineTo" : "moveTo"](...project(point, size)));
        context.strokeStyle = style.getPropertyValue(colour);
        context.lineWidth = width;
        context.stroke();
      };
      context.font = `12px ${style.fontFamily}`;
      context.fillStyle = style.getPropertyValue("--soft");
      [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((way, axis) => {
        const corner = [-1, -1, -1], end = corner.map((value, at) => value + 2 * way[at]);
        line([corner, end], "--faint", 1);
        const [x, y] = project(end.map((value, at) => value + 0.12 * way[at]), size);
        context.fillText(data.names[axis], Math.min(Math.max(x - 4, 2), size - 8 * data.names[axis].length), y + 4);
      });
      line(points, which === "true" ? "--soft" : "--accent", 0.9);
    });
  }

  function turn(by, up) {
    state.turn += by;
    state.tilt = Math.min(Math.max(state.tilt + up, -Math.PI / 2), Math.PI / 2);
    const degrees = (angle) => Math.round((angle * 180) / Math.PI);
    said.textContent = `turned by ${((degrees(state.turn - START.turn) % 360) + 360) % 360}°, tilted by ${degrees(state.tilt)}°, zoom ${state.zoom.toFixed(1)}`;
    draw();
  }

  panels.forEach(({ canvas }) => {
    canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener("pointermove", (event) => { if (event.buttons) turn(event.movementX * 0.01, event.movementY * 0.01); });
    canvas.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
      const zoom = { "+": 1.2, "-": 1 / 1.2 }[event.key];
      if (!move && !zoom && event.key !== "0") return;
      event.preventDefault();
      if (event.key === "0") Object.assign(state, START);
      if (zoom) state.zoom = Math.min(Math.max(state.zoom * zoom, 0.4), 6);
      turn(...(move ?? [0, 0]));
    });
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new ResizeObserver(draw).observe(place);
}
