"""The dependency graph as a layered drawing: what a claim rests on stands to its left.

Columns are topological generations; edges that skip a column pass through waypoints, which all
edges from one claim share. Order inside a column follows the barycentres of the neighbours, and
the order with the fewest crossings is kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verify.verdicts import Json

Node = tuple[str, int | None]
"""A claim (its id, None), or the waypoint of a claim's edges in a column (id, column)."""

BOX_HEIGHT = 40.0
WAYPOINT_HEIGHT = 8.0
GAP = 12.0
COLUMN_GAP = 64.0
MARGIN = 12.0
STRIPE = 20.0
SMALL_CHARACTER = 6.4
LARGE_CHARACTER = 8.2
PADDING = 18.0
SWEEPS = 12
GRID_WIDTH = 1180.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One claim; the label is its id in two lines."""

    id: str
    prefix: str
    name: str
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Boxes and edges (as SVG path data, with the ids that they join) and their extent."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    edges: tuple[tuple[str, str, str], ...]


def connected(claims: Iterable[Mapping[str, Json]]) -> tuple[Drawing, Drawing]:
    """The claims that rest on each other, layered, and the others in a grid."""
    uses = {item["id"]: list(item["uses"]) for item in claims}
    uses = {key: sorted({used for used in rest if used in uses}) for key, rest in uses.items()}
    uses = _without_cycles(uses)
    joined = {key for key, rest in uses.items() if rest} | {
        u for rest in uses.values() for u in rest
    }
    layered = _layered({key: rest for key, rest in sorted(uses.items()) if key in joined})
    return layered, _grid(sorted(uses.keys() - joined))


def _without_cycles(uses: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The uses that can be drawn: claims that rest on themselves, which are BROKEN, lose those."""
    import networkx

    graph: Any = networkx.DiGraph((user, used) for user, rest in uses.items() for used in rest)
    graph.add_nodes_from(uses)
    ring_of = {
        key: place
        for place, ring in enumerate(networkx.strongly_connected_components(graph))
        for key in ring
    }
    return {
        user: [used for used in rest if ring_of[used] != ring_of[user]]
        for user, rest in uses.items()
    }


def _layered(uses: Mapping[str, Sequence[str]]) -> Drawing:
    columns_of = _columns(uses)
    after = _segments(uses, columns_of)
    columns = _ordered(after, columns_of)
    tops = _heights(columns, after)
    widths = [max(map(_width, (key for key, way in column if way is None))) for column in columns]
    lefts = list(itertools.accumulate((width + COLUMN_GAP for width in widths), initial=MARGIN))
    boxes = tuple(
        _box(node[0], lefts[place], tops[node], _width(node[0]))
        for place, column in enumerate(columns)
        for node in column
        if node[1] is None
    )
    place_of = {node: place for place, column in enumerate(columns) for node in column}

    def ends(node: Node) -> tuple[float, float, float]:
        left, middle = lefts[place_of[node]], tops[node] + _height(node) / 2
        width = _width(node[0]) if node[1] is None else widths[place_of[node]]
        return left, left + width, middle

    edges = tuple(
        (user, used, _path([ends(node) for node in _route(used, user, columns_of)]))
        for user, rest in uses.items()
        for used in rest
    )
    return Drawing(
        width=lefts[-1] - COLUMN_GAP + MARGIN if columns else 0.0,
        height=max((tops[node] + _height(node) for node in tops), default=0.0) + MARGIN,
        boxes=boxes,
        edges=edges,
    )


def _columns(uses: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Column of each claim: one behind the last that it rests on; foundations near their users."""
    import networkx

    graph: Any = networkx.DiGraph((used, user) for user, rest in uses.items() for used in rest)
    column = {
        key: place
        for place, generation in enumerate(networkx.topological_generations(graph))
        for key in generation
    }
    for key, rest in uses.items():
        if not rest:
            column[key] = min(column[user] for user in graph.successors(key)) - 1
    return column


def _route(used: str, user: str, column: Mapping[str, int]) -> list[Node]:
    between = range(column[used] + 1, column[user])
    return [(used, None), *((used, place) for place in between), (user, None)]


def _segments(
    uses: Mapping[str, Sequence[str]], column: Mapping[str, int]
) -> dict[Node, list[Node]]:
    """The nodes of the next column to which each node is joined."""
    after: dict[Node, list[Node]] = {(key, None): [] for key in uses}
    for user, rest in uses.items():
        for used in rest:
            for left, right in itertools.pairwise(_route(used, user, column)):
                targets = after.setdefault(left, [])
                if right not in targets:
                    targets.append(right)
    return after


def _ordered(after: Mapping[Node, list[Node]], column: Mapping[str, int]) -> list[list[Node]]:
    columns: list[list[Node]] = [[] for _ in range(max(column.values(), default=-1) + 1)]
    for node in after:
        columns[column[node[0]] if node[1] is None else node[1]].append(node)
    before = _reversed(after)
    best, fewest = columns, _crossings(columns, after)
    for sweep in range(SWEEPS):
        backwards = bool(sweep % 2)
        columns = _swept(columns, after if backwards else before, backwards)
        crossings = _crossings(columns, after)
        if crossings < fewest:
            best, fewest = columns, crossings
    return best


def _reversed(after: Mapping[Node, list[Node]]) -> dict[Node, list[Node]]:
    before: dict[Node, list[Node]] = {node: [] for node in after}
    for node, targets in after.items():
        for target in targets:
            before[target].append(node)
    return before


def _swept(
    columns: list[list[Node]], neighbours: Mapping[Node, list[Node]], backwards: bool
) -> list[list[Node]]:
    """Each column sorted by the mean place of its neighbours in the column swept before it."""
    swept: list[list[Node]] = []
    place: dict[Node, float] = {}
    for column in reversed(columns) if backwards else columns:
        rank: dict[Node, float] = {}
        for index, node in enumerate(column):
            known = [place[other] for other in neighbours[node]]
            rank[node] = sum(known) / len(known) if known else index / max(1, len(column))
        ordered = sorted(column, key=lambda node: rank[node])
        place |= {node: index / max(1, len(column)) for index, node in enumerate(ordered)}
        swept.append(ordered)
    return swept[::-1] if backwards else swept


def _crossings(columns: Sequence[Sequence[Node]], after: Mapping[Node, list[Node]]) -> int:
    place = {node: index for column in columns for index, node in enumerate(column)}
    count = 0
    for column in columns:
        lines = [(place[node], place[other]) for node in column for other in after[node]]
        count += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in itertools.combinations(lines, 2))
    return count


def _heights(
    columns: Sequence[Sequence[Node]], after: Mapping[Node, list[Node]]
) -> dict[Node, float]:
    """Top of every node: close to its neighbours, in the column's order, without overlap."""
    before = _reversed(after)
    middle: dict[Node, float] = {}
    for column in columns:
        middle |= dict(zip(column, _spread(column, [0.0] * len(column)), strict=True))
    for _ in range(SWEEPS):
        for column in columns:
            wanted = [
                sum(middle[other] for other in near) / len(near)
                for near in ([*before[node], *after[node]] for node in column)
            ]
            middle |= dict(zip(column, _spread(column, wanted), strict=True))
    tops = {node: value - _height(node) / 2 for node, value in middle.items()}
    least = min(tops.values(), default=0.0)
    return {node: top - least + MARGIN for node, top in tops.items()}


def _spread(column: Sequence[Node], wanted: Sequence[float]) -> list[float]:
    """Middles near the wanted ones, apart: the mean of pushing down and of pushing up."""
    apart = [(_height(a) + _height(b)) / 2 + GAP for a, b in itertools.pairwise(column)]
    down, up = list(wanted), list(wanted)
    for index, distance in enumerate(apart):
        down[index + 1] = max(down[index + 1], down[index] + distance)
    for index, distance in reversed(list(enumerate(apart))):
        up[index] = min(up[index], up[index + 1] - distance)
    return [(a + b) / 2 for a, b in zip(down, up, strict=True)]


def _path(ends: Sequence[tuple[float, float, float]]) -> str:
    """A curve from the right side of the first node to the left side of the last."""
    parts = [f"M{ends[0][1]:.1f} {ends[0][2]:.1f}"]
    for (_, right, y), (left, end, target) in itertools.pairwise(ends):
        bend = (left - right) / 2
        parts.append(
            f"C{right + bend:.1f} {y:.1f} {left - bend:.1f} {target:.1f} {left:.1f} {target:.1f}"
        )
        parts.append(f"H{end:.1f}")
    return "".join(parts[:-1])


def _grid(ids: Sequence[str]) -> Drawing:
    """Boxes of one width, row by row."""
    width = max(map(_width, ids), default=1.0)
    across = max(1, int((GRID_WIDTH + GAP) // (width + GAP)))
    boxes = tuple(
        _box(
            key,
            MARGIN + index % across * (width + GAP),
            MARGIN + index // across * (BOX_HEIGHT + GAP),
            width,
        )
        for index, key in enumerate(ids)
    )
    return Drawing(
        width=max((box.x + box.width for box in boxes), default=0.0) + MARGIN,
        height=max((box.y + BOX_HEIGHT for box in boxes), default=0.0) + MARGIN,
        boxes=boxes,
        edges=(),
    )


def _box(key: str, x: float, y: float, width: float) -> Box:
    prefix, _, name = key.rpartition(".")
    return Box(id=key, prefix=prefix, name=name, x=round(x, 1), y=round(y, 1), width=width)


def _height(node: Node) -> float:
    return BOX_HEIGHT if node[1] is None else WAYPOINT_HEIGHT


def _width(key: str) -> float:
    prefix, _, name = key.rpartition(".")
    text = max(len(prefix) * SMALL_CHARACTER, len(name) * LARGE_CHARACTER)
    return round(STRIPE + text + PADDING, 1)
