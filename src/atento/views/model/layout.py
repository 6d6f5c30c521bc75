"""Where the boxes and arrows of a model's graph stand, in pixels: each part is one box.

The boxes of one part of the model stand below each other in a frame, and the largest parts stand side by side.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from atento.models.diagnostics.model_graph import OUTPUT, Edge, GraphNode, ModelGraph
from atento.models.diagnostics.part_calls import Shape

WIDTH, HEIGHT = 228.0, 44.0  # of a box
GAP = 30.0  # between two boxes, in which an arrow and a shape stand
PAD, TITLE = 12.0, 18.0  # around the boxes of a frame, and above them
LANE = 9.0  # between two arrows beside the boxes
APART = 90.0  # between two columns


class GraphBox(NamedTuple):
    """A box: one node, or one of its steps."""

    node: str
    x: float
    y: float
    width: float
    height: float
    title: str
    note: str = ""
    kind: str = ""  # end: input or output; shared; step

    @property
    def middle(self) -> float:
        """The middle from left to right."""
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.height


class Frame(NamedTuple):
    """A part of the model that holds several boxes."""

    title: str
    x: float
    y: float
    width: float
    height: float


class Arrow(NamedTuple):
    """What flows between two boxes, through some points."""

    source: str
    target: str
    points: list[tuple[float, float]]
    label: str = ""
    loop: bool = False
    labelled: bool = True  # whether the label is drawn, not only told


class GraphLayout(NamedTuple):
    """A drawing of boxes, frames and arrows."""

    width: float
    height: float
    boxes: list[GraphBox]
    frames: list[Frame]
    arrows: list[Arrow]
    texts: Sequence[tuple[float, float, str]] = ()


def shape_text(shape: Shape) -> str:
    """(1, 7, 128) -> 1 × 7 × 128."""
    return " × ".join(map(str, shape)) or "1 number"


def ordered_nodes(graph: ModelGraph) -> list[GraphNode]:
    """Nodes so that each stands after those it reads: by the longest way from an input to its last call."""
    ranks: dict[tuple[str, int], int] = {}
    reads: dict[tuple[str, int], list[tuple[str, int]]] = {}
    for edge in graph.edges:
        reads.setdefault((edge.target, edge.target_call), []).append((edge.source, edge.source_call))

    def rank(call: tuple[str, int]) -> int:
        if call not in ranks:
            ranks[call] = 0
            ranks[call] = 1 + max((rank(one) for one in reads.get(call, [])), default=0)
        return ranks[call]

    for call in sorted(reads, key=lambda one: one[1]):  # early steps first, so that no way is long
        rank(call)
    return sorted(graph.nodes, key=lambda node: ranks.get((node.name, node.calls - 1), 0))


class Branch(NamedTuple):
    """A part of the model with its boxes and parts in order."""

    name: str
    items: list["Branch | GraphNode"]
    alike: int = 1  # how many parts in a row look like this one


def tree_of(nodes: Sequence[GraphNode]) -> Branch:
    """Nodes in nested parts, as their names say; a part with one item is that item."""

    def gather(prefix: str, some: Sequence[GraphNode]) -> Branch:
        groups: dict[str, list[GraphNode]] = {}
        for node in some:
            inside = node.name.removeprefix(f"{prefix}.") if prefix else node.name
            own = node.part.removeprefix(f"{prefix}.") if prefix else node.part
            first = inside if "." not in own else own.partition(".")[0]
            groups.setdefault(first, []).append(node)
        items: list[Branch | GraphNode] = []
        for first, group in groups.items():
            name = f"{prefix}.{first}" if prefix else first
            items.append(group[0] if len(group) == 1 else gather(name, group))
        if len(items) == 1 and isinstance(items[0], Branch):
            return items[0]
        return Branch(prefix, items)

    return gather("", nodes)


def outline(item: "Branch | GraphNode", prefix: str) -> object:
    """What two layers have in common that are alike but for their number."""
    if isinstance(item, GraphNode):
        return item.name.removeprefix(prefix), item.kind, item.parameters, tuple(item.outputs)
    return item.name.removeprefix(prefix), [outline(one, prefix) for one in item.items]


def folded_tree(branch: Branch, hidden: dict[str, str]) -> Branch:
    """The same with parts in a row that are alike drawn once; `hidden` receives which node stands for which."""
    items: list[Branch | GraphNode] = []
    for item in branch.items:
        last = items[-1] if items else None
        if (
            isinstance(item, Branch)
            and isinstance(last, Branch)
            and [outline(one, item.name) for one in item.items] == [outline(one, last.name) for one in last.items]
        ):
            items[-1] = last._replace(alike=last.alike + 1)
            hidden.update(zip(names_in(item), names_in(last), strict=True))
        else:
            items.append(item)
    inside = [folded_tree(one, hidden) if isinstance(one, Branch) else one for one in items]
    return Branch(branch.name, inside, branch.alike)


def names_in(item: "Branch | GraphNode") -> list[str]:
    """The names of all nodes of a part."""
    return [item.name] if isinstance(item, GraphNode) else [name for one in item.items for name in names_in(one)]


class Stacker:
    """Places boxes below each other, in frames."""

    def __init__(self, graph: ModelGraph, x: float) -> None:
        self.graph, self.x, self.y = graph, x, 0.0
        self.boxes: list[GraphBox] = []
        self.frames: list[Frame] = []

    def end(self, name: str, shape: str) -> None:
        """An input or the output."""
        self.boxes.append(GraphBox(name, self.x + WIDTH * 0.2, self.y, WIDTH * 0.6, 34.0, name, shape, "end"))
        self.y += 34.0 + GAP

    def add(self, item: "Branch | GraphNode", prefix: str, inset: float) -> None:
        """A box, or a frame with the boxes in it."""
        if isinstance(item, GraphNode):
            title = item.name.removeprefix(f"{prefix}.") if prefix else item.name
            note = f"{item.kind} · {item.parameters:,}" if item.parameters else item.kind
            kind = "shared" if item.shared else ""
            self.boxes.append(GraphBox(item.name, self.x, self.y, WIDTH, HEIGHT, title, note, kind))
            self.y += HEIGHT + GAP
            return
        top = self.y
        self.y += TITLE + PAD
        for one in item.items:
            self.add(one, item.name, inset - PAD)
        self.y += PAD - GAP
        name = item.name.removeprefix(f"{prefix}.") if prefix else item.name
        title = f"{name} · {item.alike} layers alike" if item.alike > 1 else name
        self.frames.append(Frame(title, self.x - inset, top, WIDTH + 2 * inset, self.y - top))
        self.y += GAP


def depth_of(item: "Branch | GraphNode") -> int:
    """How many frames are within each other."""
    return 0 if isinstance(item, GraphNode) else 1 + max(map(depth_of, item.items), default=0)


def fold(graph: ModelGraph, *, columns: bool) -> GraphLayout:
    """Every part once, a cell with a loop; layers that are alike once."""
    hidden: dict[str, str] = {}
    tree = folded_tree(tree_of(ordered_nodes(graph)), hidden)
    branches = [one for one in tree.items if isinstance(one, Branch)]
    groups = [[one] for one in tree.items] if columns and len(branches) == len(tree.items) > 1 else [tree.items]
    inset = PAD * max((depth_of(one) for one in tree.items), default=0)
    stackers, left = [], inset + 34.0
    for group in groups:
        stacker = Stacker(graph, left)
        shown = {name for item in group for name in names_in(item)}
        for name, shape in graph.inputs.items():
            if next((edge.target for edge in graph.edges if edge.source == name), "") in shown:
                stacker.end(name, shape_text(shape))
        for item in group:
            stacker.add(item, "", inset)
        if any(edge.target == OUTPUT and edge.source in shown for edge in graph.edges):
            stacker.end(OUTPUT, shape_text(graph.outputs[0]) if graph.outputs else "")
        stackers.append(stacker)
        left += WIDTH + 2 * inset + APART
    boxes = [box for stacker in stackers for box in stacker.boxes]
    arrows, lanes = folded_arrows(graph, boxes, hidden)
    width = left - APART - inset + max(lanes * LANE, 34.0) if len(groups) == 1 else left - APART + lanes * LANE
    height = max(stacker.y for stacker in stackers) - GAP + 2.0
    return GraphLayout(width, height, boxes, [frame for one in stackers for frame in one.frames], arrows)


def folded_arrows(graph: ModelGraph, boxes: Sequence[GraphBox], hidden: Mapping[str, str]) -> tuple[list[Arrow], int]:
    """An arrow for each pair of parts: down where they are neighbours, else beside the boxes; and how many lanes. What
    the last of some layers gives goes out of the one that stands for them.
    """
    places = {box.node: (at, box) for at, box in enumerate(boxes)}
    pairs: dict[tuple[str, str], Edge] = {}
    for edge in graph.edges:
        source = hidden.get(edge.source, edge.source)
        if source in places and edge.target in places and (source != edge.target or edge.source == source):
            pairs.setdefault((source, edge.target), edge)
    arrows: list[Arrow] = []
    taken: list[tuple[int, float, float, float]] = []  # lanes: number, x of the column, from, to
    for (source, target), edge in pairs.items():
        (at, start), (to, stop) = places[source], places[target]
        if source == target:
            arrows.append(Arrow(source, target, loop_points(start), f"{graph.steps(source)} steps", loop=True))
        elif to == at + 1 and start.middle == stop.middle:
            points = [(start.middle, start.bottom), (stop.middle, stop.y)]
            arrows.append(Arrow(source, target, points, shape_text(edge.shape)))
        elif abs(start.middle - stop.middle) > WIDTH:
            points = [(start.x + start.width, start.y + start.height / 2), (stop.x, stop.y + stop.height / 2)]
            arrows.append(Arrow(source, target, across(points), shape_text(edge.shape)))
        else:
            low, high = sorted((start.y, stop.y))
            busy = {lane for lane, x, first, last in taken if x == start.middle and first <= high and low <= last}
            lane = next(number for number in range(len(taken) + 1) if number not in busy)
            taken.append((lane, start.middle, low, high))
            arrows.append(Arrow(source, target, beside(start, stop, lane), ""))
    return arrows, max((lane for lane, *_ in taken), default=-1) + 2


def loop_points(box: GraphBox) -> list[tuple[float, float]]:
    """An arrow from a box back into it, on its left."""
    high, low = box.y + box.height * 0.25, box.y + box.height * 0.75
    return [(box.x, low), (box.x - 22.0, low), (box.x - 22.0, high), (box.x, high)]


def across(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """From one column to the other, by right angles halfway between them."""
    (x, y), (to_x, to_y) = points
    half = to_x - APART / 3 if to_x > x else to_x + WIDTH + APART / 3
    return [(x, y), (half, y), (half, to_y), (to_x, to_y)]


def beside(start: GraphBox, stop: GraphBox, lane: int) -> list[tuple[float, float]]:
    """Down or up beside the boxes, on their right."""
    right = max(start.x + start.width, stop.x + stop.width)
    far = right + 12.0 + LANE * lane
    leaves, enters = start.y + start.height * 0.66, stop.y + stop.height * 0.33
    return [(start.x + start.width, leaves), (far, leaves), (far, enters), (stop.x + stop.width, enters)]
