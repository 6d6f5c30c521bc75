"""One forward pass, matrix by matrix: as text, as numbers, or as a page that walks from one matrix to the next."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from atento.bundle import Json, write_json
from atento.models.diagnostics.attention_maps import AttentionMap
from atento.reprs import short_repr
from atento.tasks.traces import TraceMatrix, trace_matrix
from atento.views.html import embed, page, tag
from atento.views.saving import ModelView
from atento.views.wording import shortened
from atento.writing import write_atomically

# Axes: L layers, H heads, Q queries, K keys, d size of a head.

STATES = ("encoder states", "states", "latent", "forecast")  # titles of what layers of self-attention give
ENDINGS = (".json", ".html")
MOST_CELLS = 60  # rows, and columns, of a matrix in the page
WIDEST = 12  # named columns of a matrix shown side by side
NUMBER = 9  # columns of a terminal that a number takes


@dataclass(frozen=True, kw_only=True)
class StepsView(ModelView):
    """The matrices of a forward pass in their order."""

    source: str
    output: str
    steps: Sequence[TraceMatrix]

    def __repr__(self) -> str:
        return short_repr(self)

    def to_json(self) -> Json:
        """The view in dicts and lists."""
        return {
            "model": self.model,
            "source": self.source,
            "output": self.output,
            "steps": [step.to_json() for step in self.steps],
        }

    def save(self, path: str | Path) -> Path:
        """Write a page (.html) or the numbers (.json)."""
        return save_steps(self, Path(path))


def with_attention(trace: Sequence[TraceMatrix], maps: Sequence[AttentionMap]) -> list[TraceMatrix]:
    """The matrices of a trace with queries, keys, values and weights of every head, where they are computed."""
    shown = [one for one in maps if one.vectors is not None]
    if not shown:
        return list(trace)
    kept = [step for step in trace if not step.title.startswith("weights, layer")]
    inside = next((at for at, step in enumerate(kept) if step.title in STATES), len(kept))
    first = [step for one in shown if "decoder" not in one.name and one.kind != "cross" for step in matrices_of(one)]
    later = [step for one in shown if "decoder" in one.name or one.kind == "cross" for step in matrices_of(one)]
    after = next((at for at, step in enumerate(kept) if step.title.startswith(("step 1:", "outputs"))), len(kept))
    found = [*kept[:inside], *first, *kept[inside : max(inside, after)], *later, *kept[max(inside, after) :]]
    last = [step.title for step in (first if first else later)[-1:]]
    return [replace(step, made_of=[*last, *step.made_of]) if step.title in STATES and first else step for step in found]


def matrices_of(one: AttentionMap) -> list[TraceMatrix]:
    """Queries, keys, values, weights and the output of each head of each layer."""
    if one.vectors is None:
        return []
    found = []
    layers, heads = one.weights.shape[:2]
    for layer in range(layers):
        for head in range(heads):
            query, key, value = (part[layer, head] for part in one.vectors)
            name = f"{one.name}, layer {layer + 1}, head {head + 1}"
            titles = [f"{name}: {part}" for part in ("queries", "keys", "values", "weights", "output")]
            weights = one.weights[layer, head]
            found += [
                trace_matrix(titles[0], "Q = X W_Q + b", one.queries, query),
                trace_matrix(titles[1], "K = Y W_K + b", one.keys, key),
                trace_matrix(titles[2], "V = Y W_V + b", one.keys, value),
                trace_matrix(titles[3], one.formula, one.queries, weights, columns=one.keys, made_of=titles[:2]),
                trace_matrix(titles[4], "weights · V", one.queries, weights @ value, made_of=titles[2:4]),
            ]
    return found


def save_steps(view: StepsView, path: Path) -> Path:
    """A page or the numbers, by the name given."""
    if path.suffix.lower() == ".json":
        write_json(path, [step.to_json() for step in view.steps])
    else:
        write_atomically(path, steps_page(view).encode())
    return path


def steps_page(view: StepsView) -> str:
    """A single HTML file that walks one pass, matrix by matrix."""
    heading = tag("h1", "One forward pass of ", tag("bdi", view.model), class_="pair")
    text = tag("p", tag("bdi", shortened(view.source, 200)), " → ", tag("bdi", shortened(view.output, 200)))
    body = tag("section", tag("h2", "Matrix by matrix", class_="hidden"), text, walk(view))
    return page(f"One pass: {shortened(view.source, 80)}", "one forward pass", [heading], body)


def walk(view: StepsView) -> str:
    """The element and the data of the walk; without JavaScript, titles, shapes and formulas."""
    names = [f"{step.title} ({' × '.join(map(str, step.shape))}): {step.formula}" for step in view.steps]
    listed = tag("noscript", tag("p", "The numbers need JavaScript."), tag("ol", *(tag("li", name) for name in names)))
    data = {"steps": [cut(step) for step in view.steps]}
    return tag("div", tag("div", id="steps", class_="steps"), listed, embed(data, name="steps-data"))


def cut(step: TraceMatrix) -> Json:
    """A matrix as the page shows it: of a large one the first rows and columns."""
    return {
        **step.to_json(),
        "rows": step.rows[:MOST_CELLS],
        "columns": step.columns[:MOST_CELLS],
        "matrix": [row[:MOST_CELLS] for row in step.matrix[:MOST_CELLS]],
    }


def steps_text(view: StepsView, *, width: int = 80) -> str:
    """All matrices for a terminal."""
    return "\n".join(matrix_text(step, width=width) for step in view.steps)


def matrix_text(step: TraceMatrix, *, width: int) -> str:
    """A title, a formula, and the numbers; wide matrices are folded."""
    shape = " × ".join(map(str, step.shape))
    lines = [f"\n{step.title}  ({shape})   {step.formula}"]
    label = max((len(name) for name in step.rows), default=0)
    across = max(1, min(WIDEST, (width - label) // NUMBER))
    for first in range(0, len(step.columns), across):
        names = step.columns[first : first + across]
        lines.append(" " * label + "".join(f"{name[:8]:>9}" for name in names))
        for name, numbers in zip(step.rows, step.matrix, strict=True):
            cells = "".join(f"{number:9.3f}" for number in numbers[first : first + across])
            lines.append(f"{name:<{label}}{cells}")
    more = step.shape[-1] - len(step.columns)
    if more > 0:
        lines.append(f"{'':<{label}} … {more} more columns")
    return "\n".join(lines)
