// The graph of a model: pointing at a part, or reaching it by Tab, marks what it reads and what reads it.

document.querySelectorAll("svg.model-graph").forEach((svg) => showGraph(svg, document.querySelector(".graph-readout")));

function showGraph(svg, readout) {
  const nodes = [...svg.querySelectorAll(".node")], arrows = [...svg.querySelectorAll(".arrow")];
  const choose = (chosen) => {
    const name = chosen?.dataset.node;
    const near = new Set();
    arrows.forEach((arrow) => {
      const { source, target } = arrow.dataset;
      const on = name !== undefined && (source === name || target === name);
      arrow.classList.toggle("on", on);
      if (on) near.add(source).add(target);
    });
    nodes.forEach((node) => {
      node.classList.toggle("chosen", node.dataset.node === name);
      node.classList.toggle("near", near.has(node.dataset.node) && node.dataset.node !== name);
    });
    if (chosen && readout) readout.textContent = chosen.dataset.facts;
  };
  svg.addEventListener("pointerover", ({ target }) => choose(target.closest(".node")));
  svg.addEventListener("pointerleave", () => choose(null));
  svg.addEventListener("focusin", ({ target }) => choose(target.closest(".node")));
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    const at = nodes.indexOf(document.activeElement);
    if (!step || at < 0) return;
    nodes[Math.min(Math.max(at + step, 0), nodes.length - 1)].focus();
    event.preventDefault();
  });
}
