"""The layout of a model's graph unrolled over time: a row is a part, a column is a time step.

A part that reads the whole sequence at once is a box as wide as all steps.
"""

from collections.abc import Sequence

from atento.models.diagnostics.model_graph import OUTPUT, GraphNode, ModelGraph
from atento.views.model.layout import Arrow, GraphBox, GraphLayout, names_in, ordered_nodes, shape_text, tree_of

CELL, CELL_HEIGHT, BETWEEN = 64.0, 30.0, 26.0  # of one step of a row, and between two
NAMES = 200.0  # room for the name of a row
ROW_GAP = 40.0
MOST_STEPS = 9  # that are drawn


def unroll(graph: ModelGraph) -> GraphLayout | None:
    """A row for each part, a column for each time step; None where no part is applied step by step."""
    tree = tree_of(ordered_nodes(graph))
    by_name = {node.name: node for node in graph.nodes}
    nodes = [by_name[name] for name in names_in(tree)]
    longest = max((graph.steps(node.name) for node in nodes), default=1)
    if longest < 2:
        return None
    shown = min(longest, MOST_STEPS)
    whole = shown * (CELL + BETWEEN) - BETWEEN
    boxes: dict[tuple[str, int], GraphBox] = {}
    texts: list[tuple[float, float, str]] = []
    y = 0.0
    for name in with_ends(graph, [node.name for node in nodes]):
        node = by_name.get(name)
        if node is None:
            shape = graph.inputs.get(name) or (graph.outputs[0] if graph.outputs else ())
            boxes[name, 0] = GraphBox(name, NAMES, y, whole, CELL_HEIGHT, name, shape_text(shape), "end")
        elif (steps := graph.steps(name)) < 2:
            note = " → ".join(shape_text(one[0]) for one in (node.inputs, node.outputs) if one)
            kind = "shared" if node.shared else ""
            boxes[name, node.calls - 1] = GraphBox(name, NAMES, y, whole, CELL_HEIGHT, name, note, kind)
        else:
            boxes |= step_boxes(node, steps, shown, y)
            more = "" if steps <= shown else f"; {shown} shown"
            texts += [(0.0, y + 12.0, name), (0.0, y + 27.0, f"{steps} steps, same weights{more}")]
        y += CELL_HEIGHT + ROW_GAP
    arrows = unrolled_arrows(graph, boxes)
    return GraphLayout(NAMES + whole + 2.0, y - ROW_GAP + 2.0, list(boxes.values()), [], arrows, texts)


def with_ends(graph: ModelGraph, names: Sequence[str]) -> list[str]:
    """The rows in order: each input before the first part that reads it, the output last."""
    rows: list[str] = []
    for name in names:
        rows += [edge.source for edge in graph.edges if edge.target == name and edge.source in graph.inputs]
        rows.append(name)
    return list(dict.fromkeys([*rows, OUTPUT]))


def step_boxes(node: GraphNode, steps: int, shown: int, y: float) -> dict[tuple[str, int], GraphBox]:
    """A box for each of the first time steps; a cell that reads from right to left takes the last of them first."""
    found = {}
    for step in range(steps):
        time = steps - step if node.backward else step + 1
        if time <= shown:
            x = NAMES + (time - 1) * (CELL + BETWEEN)
            place = GraphBox(node.name, x, y, CELL, CELL_HEIGHT, f"t = {time}", "", "step")
            found[node.name, node.calls - steps + step] = place
    return found


def unrolled_arrows(graph: ModelGraph, boxes: dict[tuple[str, int], GraphBox]) -> list[Arrow]:
    """An arrow for each edge: along a row in time, else down in the column of the narrower box."""
    arrows: dict[tuple[float, float, float, float], Arrow] = {}
    for edge in graph.edges:
        start = boxes.get((edge.source, edge.source_call)) or last_box(boxes, edge.source, edge.source_call)
        stop = boxes.get((edge.target, edge.target_call)) or last_box(boxes, edge.target, edge.target_call)
        if start is None or stop is None or start == stop:
            continue
        if start.y == stop.y:
            level = start.y + start.height / 2
            right = start.x < stop.x
            points = [(start.x + start.width * right, level), (stop.x + stop.width * (not right), level)]
        else:
            points = down(start, stop)
        key = (*points[0], *points[-1])
        arrows.setdefault(
            key,
            Arrow(
                edge.source, edge.target, points, shape_text(edge.shape), labelled=CELL not in (start.width, stop.width)
            ),
        )
    return list(arrows.values())


def last_box(boxes: dict[tuple[str, int], GraphBox], name: str, call: int) -> GraphBox | None:
    """The only box of a part that has one box for all its calls."""
    own = [place for (node, _), place in boxes.items() if node == name]
    return own[0] if len(own) == 1 else None


def down(start: GraphBox, stop: GraphBox) -> list[tuple[float, float]]:
    """From one row to a lower one; past the boxes between them it runs in the gap between two steps."""
    narrow = min(start, stop, key=lambda one: one.width)
    near = stop.y - start.bottom <= ROW_GAP
    if near:
        return [(narrow.middle, start.bottom), (narrow.middle, stop.y)]
    gap = narrow.x + narrow.width + BETWEEN * 0.4 if narrow.width == CELL else start.x - 10.0
    if narrow.width != CELL:
        level, lower = start.y + start.height / 2, stop.y + stop.height / 2
        return [(start.x, level), (gap, level), (gap, lower), (stop.x, lower)]
    if start is narrow:
        near_by = [(start.middle + 14.0, start.bottom), (gap, start.bottom + 12.0), (gap, stop.y - 12.0)]
        return [*near_by, (start.middle + 14.0, stop.y)]
    return [(gap, start.bottom), (gap, stop.y - 12.0), (stop.middle + 14.0, stop.y)]
