// Ridgelines of histograms: pointing at one, or moving with the arrow keys, reads its step, its bin and its share.

const ridgeData = document.getElementById("ridges");
if (ridgeData) showRidges(JSON.parse(ridgeData.textContent));

function showRidges(data) {
  const readout = document.querySelector(".ridge-readout");
  document.querySelectorAll("[data-ridge]").forEach((box) => {
    const rows = data.parts[Number(box.dataset.ridge)][box.dataset.measure];
    const ridges = [...box.querySelectorAll(".ridge")];
    const [low, high] = [Number(box.dataset.low), Number(box.dataset.high)];
    const size = data.edges[1] - data.edges[0];
    let line = 0, bin = Math.round((low - data.edges[0]) / size);
    const tell = () => {
      line = Math.min(Math.max(line, 0), rows.length - 1);
      bin = Math.min(Math.max(bin, 0), rows[line].length - 1);
      ridges.forEach((ridge, at) => ridge.classList.toggle("on", at === line));
      const total = rows[line].reduce((sum, count) => sum + count, 0) || 1;
      const share = (100 * rows[line][bin]) / total;
      const [from, to] = [data.edges[bin], data.edges[bin + 1]].map((power) => (10 ** power).toExponential(1));
      readout.textContent = `${data.names[Number(box.dataset.ridge)]}, step ${data.steps[line].toLocaleString("en-US")}: ${share.toFixed(1)} % of ${data.measures[box.dataset.measure]} between ${from} and ${to}`;
    };
    box.addEventListener("pointermove", (event) => {
      const svg = box.querySelector("svg"), frame = svg.getBoundingClientRect(), zoom = svg.viewBox.baseVal.width / frame.width;
      const [x, y] = [(event.clientX - frame.left) * zoom, (event.clientY - frame.top) * zoom];
      const [left, right] = [56, svg.viewBox.baseVal.width - 12];
      line = Math.round((y - 44 + 4) / 15);
      bin = Math.floor((low + ((x - left) / (right - left)) * (high - low) - data.edges[0]) / size);
      tell();
    });
    box.addEventListener("pointerleave", () => ridges.forEach((ridge) => ridge.classList.remove("on")));
    box.addEventListener("keydown", (event) => {
      const move = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key];
      if (!move) return;
      event.preventDefault();
      [line, bin] = [line + move[0], bin + move[1]];
      tell();
    });
  });
}
