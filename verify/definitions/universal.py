"""Fixed 0/1 parameters of a universal transformer: what its printed products select."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from verify.definitions.plain import require


@dataclass(frozen=True)
class Sizes:
    """H, L, d, d_in; r neurons of the target's gated blocks; whether streams are carried on."""

    heads: int
    layers: int
    head_width: int
    token_width: int
    neurons: int
    residual: int

    @classmethod
    def of(cls, data: Any) -> Sizes:
        """Sizes from a certificate, each a whole number from 1 on."""
        sizes = cls(**dict(data.items()))
        for name, value in vars(sizes).items():
            least = 0 if name in ("neurons", "residual") else 1
            require(type(value) is int and value >= least, f"size {name} is not a whole number")
        require(sizes.residual in (0, 1), "streams are carried on or not")
        return sizes

    def widths(self) -> list[int]:
        """s_0..s_L, the columns of P_0..P_L."""
        widths = [self.token_width]
        for _ in range(self.layers):
            above = widths[0]
            inner = 2 * self.neurons * above + self.residual * above if self.neurons else above
            reads = 2 * self.heads * self.head_width
            widths.insert(0, reads + (self.heads + self.residual) * inner)
        return widths

    def labels(self) -> Iterator[tuple[Any, ...]]:
        """Every coordinate's label, one by one."""
        heads = range(self.heads)
        for depth in range(self.layers):
            for path in itertools.product(heads, repeat=depth):
                yield from itertools.product("QK", [path], heads, range(self.head_width))
        for path in itertools.product(heads, repeat=self.layers):
            yield from itertools.product("C", [path], range(self.token_width))


GATED = ("gates", "ups", "downs")


def require_plain(sizes: Sizes) -> None:
    """These definitions know of attention alone."""
    require(not sizes.neurons and not sizes.residual, "there are gated blocks or residual paths")


def require_maps(sizes: Sizes, values: Any, width: int) -> None:
    """A value map per layer and head, each of a place per coordinate."""
    fits = len(values) == sizes.layers and all(len(layer) == sizes.heads for layer in values)
    require(fits, "there must be a value map per layer and head")
    for value in (value for layer in values for value in layer):
        require_value_map(value, width)


def require_ungated(sizes: Sizes, exhibit: Any) -> None:
    """A model whose target has no gated blocks has no matrices for them."""
    require(sizes.neurons or not any(exhibit[name] for name in GATED), "there are gated blocks")


Column = dict[int, set[int]]
"""Rows of the ones per column."""


def columns_of(places: Any, height: int, width: int) -> Column:
    """A 0/1 matrix from the places of its ones, each within the matrix and named once."""
    rows, columns = places
    require(len(rows) == len(columns), "places of ones need a row and a column each")
    result: Column = {column: set() for column in range(width)}
    for row, column in zip(rows, columns, strict=True):
        require(0 <= row < height and 0 <= column < width, "a 1 stands outside its matrix")
        require(row not in result[column], "a 1 is named twice")
        result[column].add(row)
    require(len(rows) <= height, "a fixed parameter has more than m ones")
    return result


def require_value_map(value: Any, width: int) -> None:
    """A value map says of each coordinate where its 1 moves, or -1."""
    require(len(value) == width, "a value map needs a column per coordinate")
    fits = all(type(row) is int and -1 <= row < width for row in value)
    require(fits, "a 1 stands outside its matrix")


def moved(value: Any, column: set[int]) -> set[int]:
    """A column of R_V times a matrix: each 1 moves to the row of that column's 1, if any."""
    return {value[row] for row in column if value[row] >= 0}


def check_fixed_parameters(exhibit: Any) -> None:
    """Every printed product of fixed matrices selects a coordinate, and all of them differ."""
    sizes, width = Sizes.of(exhibit["size"]), exhibit["width"]
    require_ungated(sizes, exhibit)
    values = exhibit["values"]
    require_plain(sizes)
    require_maps(sizes, values, width)
    seen: set[int] = set()

    def select(path: tuple[int, ...], last: Column) -> None:
        for start in last.values():
            ones = start
            for layer in reversed(range(len(path))):
                ones = moved(values[layer][path[layer]], ones)
            require(len(ones) == 1, f"the product along {path} is not one-hot")
            require(not ones & seen, f"the product along {path} selects a coordinate again")
            seen.update(ones)

    for depth in range(sizes.layers):
        readers = [
            columns_of(exhibit[name][depth][head], width, sizes.head_width)
            for head in range(sizes.heads)
            for name in ("queries", "keys")
        ]
        for path in itertools.product(range(sizes.heads), repeat=depth):
            for reader in readers:
                select(path, reader)
    readout = columns_of(exhibit["readout"], width, sizes.token_width)
    for path in itertools.product(range(sizes.heads), repeat=sizes.layers):
        select(path, readout)
    require(len(seen) == len(list(sizes.labels())), "P_0 has another number of columns")


def check_block_width(exhibit: Any) -> None:
    """The recursion's width against the closed form: a^L d_in and a geometric sum of reads."""
    sizes = Sizes.of(exhibit["size"])
    branches = sizes.heads + sizes.residual
    carried = 2 * sizes.neurons + sizes.residual if sizes.neurons else 1
    base = branches * carried
    reads = 2 * sizes.heads * sizes.head_width
    total_width = base**sizes.layers * sizes.token_width
    total_width += reads * sum(base**layer for layer in range(sizes.layers))
    require(sizes.widths()[0] == total_width, "the closed form is wrong")
    require(total_width <= exhibit["width"], "m is too small")


def check_folded_parameters(exhibit: Any) -> None:
    """Columns of printed products select, label by label, a coordinate of that label alone.

    A label is a path with a head's query column, with a key column for all heads, or a leaf's.
    """
    sizes, width = Sizes.of(exhibit["size"]), exhibit["width"]
    require_ungated(sizes, exhibit)
    values, heads = exhibit["values"], range(sizes.heads)
    require_plain(sizes)
    require_maps(sizes, values, width)
    held: dict[int, tuple[Any, ...]] = {}
    labels: dict[tuple[Any, ...], int] = {}

    def select(path: tuple[int, ...], label: tuple[Any, ...], last: Column) -> None:
        for number, start in last.items():
            ones = start
            for layer in reversed(range(len(path))):
                ones = moved(values[layer][path[layer]], ones)
            if number >= sizes.token_width:
                require(not ones, "a column beyond d_in is not zero")
                continue
            require(len(ones) == 1, f"the product along {path} is not one-hot")
            (place,), name = ones, (*label, path, number)
            require(held.setdefault(place, name) == name, "a coordinate has two labels")
            require(labels.setdefault(name, place) == place, "a label has two coordinates")

    for depth in range(sizes.layers):
        for path in itertools.product(heads, repeat=depth):
            for head in heads:
                for name, label in (("queries", ("Q", head)), ("keys", ("K",))):
                    part = columns_of(exhibit[name][depth][head], width, sizes.head_width)
                    select(path, label, part)
    readout = columns_of(exhibit["readout"], width, sizes.token_width)
    for path in itertools.product(heads, repeat=sizes.layers):
        select(path, ("C",), readout)
    nodes = sum(sizes.heads**depth for depth in range(sizes.layers))
    leaves = sizes.heads**sizes.layers * sizes.token_width
    require(
        len(held) == (sizes.heads + 1) * sizes.token_width * nodes + leaves,
        "another number of coordinates is used",
    )


def check_block_parameters(exhibit: Any) -> None:
    """P_0 of residual or gated blocks, by its recursion: distinct coordinates, local identities."""
    sizes, width = Sizes.of(exhibit["size"]), exhibit["width"]
    require_ungated(sizes, exhibit)
    widths = sizes.widths()
    above = list(columns_of(exhibit["readout"], width, sizes.token_width).values())
    for layer in reversed(range(sizes.layers)):
        inner, hidden = above, sizes.neurons * widths[layer + 1]
        if sizes.neurons:
            branches = [
                list(columns_of(exhibit[name][layer], width, hidden).values())
                for name in ("gates", "ups")
            ]
            inner = [*(above if sizes.residual else []), *branches[0], *branches[1]]
            check_local_blocks(exhibit["downs"][layer], above, hidden)
        below = list(inner) if sizes.residual else []
        for head in range(sizes.heads):
            for name in ("queries", "keys"):
                places = exhibit[name][layer][head]
                below += columns_of(places, width, sizes.head_width).values()
                require(len(places[0]) == sizes.head_width, "a reader has d ones")
        for value in exhibit["values"][layer]:
            require_value_map(value, width)
            require(
                sum(row >= 0 for row in value) == len(inner), "a value map has a 1 per inner probe"
            )
            below += [moved(value, column) for column in inner]
        above = below
    require(len(above) == widths[0], "P_0 has another number of columns")
    require(all(len(column) == 1 for column in above), "a column of P_0 is not one-hot")
    require(len(set[int]().union(*above)) == len(above), "P_0 selects a coordinate twice")


def check_local_blocks(down: Any, above: list[set[int]], hidden: int) -> None:
    """R_d has a 1 per row; that of row (j, i) stands where column i of P_l has its 1, alone."""
    rows, columns = down
    require(sorted(rows) == list(range(hidden)), "R_d needs one 1 in each row")
    for row, column in zip(rows, columns, strict=True):
        met = [i for i, ones in enumerate(above) if column in ones]
        require(met == [row % len(above)], "a local block is not the identity")


def check_width(exhibit: Any) -> None:
    """The labels counted one by one are as many as the closed form says, and fit into m."""
    sizes = Sizes.of(exhibit["size"])
    require_plain(sizes)
    h, depth, reads = sizes.heads, sizes.layers, 2 * sizes.heads * sizes.head_width
    nodes = depth if h == 1 else (h**depth - 1) // (h - 1)
    count = len(set(sizes.labels()))
    require(count == reads * nodes + h**depth * sizes.token_width, "the closed form is wrong")
    require(count <= exhibit["width"], "m is too small")
    if h == 1:
        printed = (depth + 1) * max(2 * sizes.head_width, sizes.token_width)
        require(count <= printed, "the width for one head exceeds the printed one")
