"""Equations 1 to 4: the columns of P_0 and C_0, taken along a path, are the printed products.

    E R_V^{1,h_1} .. R_V^{l-1,h_{l-1}} R_Q^{l,h} = M^{1,h_1} .. M^{l-1,h_{l-1}} W_Q^{l,h}

So the probe equations E P_0 = C_0 are the paper's Equations 3 and 4, and 1 and 2 for H = 1.

Source: Fixed Universal Transformers, Equations 1 to 4, Appendix A.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from constructions.universal.comparisons import (
    LemmaCase,
    comparison_check,
    simulation,
)
from constructions.universal.definitions import TransformerSize
from constructions.universal.equations_theory import equations_goals, equations_theory
from constructions.universal.layouts import Layout, digits
from constructions.universal.probes import coefficients, probe
from constructions.universal.sums import (
    PAPER,
)
from constructions.universal.tree import LAYOUT as TREE
from verify.claims import Check, Source, claim, covers
from verify.counterexamples import Counterexample
from verify.facts import INDUCTION, MATRIX_LAWS
from verify.methods.smt import Smt
from verify.rational import Matrix
from verify.smtlib import World
from verify.verdicts import Status

Path = tuple[int, ...]


# --- the theory's meaning in the code --------------------------------------------------------


def equations_worlds(layout: Layout = TREE) -> Iterator[World]:
    """The actual P_l and C_l of a size with two heads and two layers."""
    size = TransformerSize(heads=2, layers=2, head_width=1, token_width=2)
    case = simulation(layout, size, seed=7)
    model, target, heads = case.universal, case.factored, range(1, size.heads + 1)
    mixes = target.mixes()
    probes = [probe(model, layer).dense() for layer in range(size.layers + 1)]
    coefficient = [coefficients(target, layer).transposed for layer in range(size.layers + 1)]
    none = Matrix.zero(0, 0)

    def sub(level: int, matrix: Matrix, head: int) -> Matrix:
        widths = _widths(size)
        if not (0 <= level < size.layers and matrix.width == widths[level]):
            return none
        start = widths[level] - (size.heads - head + 1) * widths[level + 1]
        return matrix.select_columns(range(start, start + widths[level + 1]))

    def reads(level: int, matrix: Matrix, kind: str, head: int) -> Matrix:
        if kind == "KC":
            return matrix
        start = (2 * (head - 1) + (kind == "KK")) * size.head_width
        if matrix.width < start + size.head_width:
            return none
        return matrix.select_columns(range(start, start + size.head_width))

    def block(level: int, matrix: Matrix, path: Path, kind: str, head: int) -> Matrix:
        for step in path:
            matrix, level = sub(level, matrix, step), level + 1
        return reads(level, matrix, kind, head)

    def along(factors: Callable[[int, int], Matrix]) -> Callable[[int, Path, Matrix], Matrix]:
        def product(level: int, path: Path, last: Matrix) -> Matrix:
            for depth in range(len(path) - 1, -1, -1):
                factor = factors(level + depth, path[depth])
                if factor.width != last.height:
                    return none
                last = factor @ last
            return last

        return product

    def table(values: Callable[[int, int], Matrix]) -> Callable[[int, int], Matrix]:
        known = {(t, h): values(t, h - 1) for t in range(size.layers) for h in heads}
        return lambda layer, head: known.get((layer, head), none)

    def stage(levels: list[Matrix]) -> Callable[[int], Matrix]:
        return lambda layer: levels[layer] if layer <= size.layers else none

    value = table(lambda t, h: model.values[t][h].dense())
    mix = table(lambda t, h: mixes[t][h])
    dense: dict[str, Callable[[int, int], Matrix]] = {
        "KQ": table(lambda t, h: model.queries[t][h].dense()),
        "KK": table(lambda t, h: model.keys[t][h].dense()),
        "KC": lambda _t, _h: model.readout.dense(),
    }
    ends: dict[str, Callable[[int, int], Matrix]] = {
        "KQ": table(lambda t, h: target.queries[t][h]),
        "KK": table(lambda t, h: target.keys[t][h]),
        "KC": lambda _t, _h: Matrix.identity(size.token_width),
    }
    paths = [q for n in range(size.layers + 1) for q in itertools.product(heads, repeat=n)]
    yield World(
        sorts={
            "Mat": [case.embedding, *probes],
            "Path": paths,
            "Kind": ("KQ", "KK", "KC"),
        },
        integers=range(size.layers + 1),
        symbols={
            **{kind: kind for kind in dense},
            "H": size.heads,
            "L": size.layers,
            "mul": lambda a, b: a @ b if a.width == b.height else none,
            "nil": (),
            "cons": lambda head, q: (head, *q),
            "len": len,
            "heads_within": lambda q: all(1 <= head <= size.heads for head in q),
            "reads": reads,
            "sub": sub,
            "block": block,
            "RV": value,
            "M": mix,
            "R": lambda layer, kind, head: dense[kind](layer, head),
            "W": lambda layer, kind, head: ends[kind](layer, head),
            "P": stage(probes),
            "C": stage(coefficient),
            "along": along(value),
            "mixed": along(mix),
            "E": case.embedding,
            "h1": 2,
        },
        free={
            "q0": paths[:3],
            "g": ("KQ", "KK", "KC"),
            "h": range(size.heads + 1),
        },
    )


def _widths(size: TransformerSize) -> list[int]:
    widths = [size.token_width]
    for _ in range(size.layers):
        widths.insert(0, 2 * size.heads * size.head_width + size.heads * widths[0])
    return widths


# --- instances -------------------------------------------------------------------------------


def equations_fail(layout: Layout) -> Callable[[LemmaCase], Counterexample | None]:
    """The obligation that E times each printed product is the target's product."""

    def holds(case: LemmaCase) -> Counterexample | None:
        chosen = simulation(layout, case.size, case.seed)
        model, target = chosen.universal, chosen.factored
        values = [[value.dense() for value in layer] for layer in model.values]
        for depth in range(case.size.layers + 1):
            for number in range(case.size.heads**depth):
                path = digits(number, depth, case.size.heads)
                left, right = chosen.embedding, Matrix.identity(case.size.token_width)
                for layer, head in enumerate(path):
                    left, right = left @ values[layer][head], right @ target.mix(layer, head)
                for name, ours, theirs in _ends(chosen, depth):
                    if left @ ours != right @ theirs:
                        return Counterexample(
                            text=f"the equation of path {path} and {name} must hold "
                            f"({case.as_json()})",
                            instance={**case.as_json(), "path": list(path), "reader": name},
                        )
        return None

    return holds


def _ends(case: Any, depth: int) -> Iterator[tuple[str, Matrix, Matrix]]:
    """What stands at the end of a path of that length, in the universal model and the target."""
    size = case.universal.size
    if depth == size.layers:
        yield "U", case.universal.readout.dense(), Matrix.identity(size.token_width)
        return
    for head in range(size.heads):
        for name in ("queries", "keys"):
            ours = getattr(case.universal, name)[depth][head].dense()
            yield f"{name} of head {head}", ours, getattr(case.factored, name)[depth][head]


# --- claim -----------------------------------------------------------------------------------


def equations_checks(layout: Layout = TREE, swap: bool = False) -> tuple[Check, ...]:
    """The for-all proof, and every printed equation at small sizes."""
    return (
        covers(
            Smt(
                goals=lambda: equations_goals(
                    equations_theory(lambda: equations_worlds(layout), swap)
                ),
                instances="all H, L, d, d_in, m, all paths and readers",
                leans_on=(INDUCTION, MATRIX_LAWS),
            )
        ),
        comparison_check(equations_fail(layout), layout),
    )


@claim(
    id="universal.paths.identities",
    source=Source(PAPER, "Equations 1 to 4, Appendix A"),
    latex=r"E R_V^{1,h_1} \cdots R_V^{l-1,h_{l-1}} R_Q^{l,h} = M^{1,h_1} \cdots "
    r"M^{l-1,h_{l-1}} W_Q^{l,h},\quad E R_V^{1,h_1} \cdots R_V^{L,h_L} U = "
    r"M^{1,h_1} \cdots M^{L,h_L}",
    scope="all H, L, d, d_in and m",
    expected=Status.PROVED,
)
def columns_of_the_probes_are_the_printed_products() -> tuple[Check, ...]:
    """The columns of P_0 and C_0 are the products the paper equates: E P_0 = C_0 holds exactly
    when Equations 1 and 2 (H = 1) or 3 and 4 (H >= 2) do.
    """  # noqa: D205 - one statement, in one sentence
    return equations_checks()
