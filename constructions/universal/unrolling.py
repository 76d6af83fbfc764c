"""The unrolling: every stream is the sum over head sequences that the paper prints.

    X^l = sum over (h_1..h_l) of A^{l,h_l} .. A^{1,h_1} X^0 M^{1,h_1} .. M^{l,h_l}

It holds for the target (factors M) and for the universal model (factors R_V) alike.

Source: Fixed Universal Transformers, Lemma (unrolling), Appendix A.1 and A.2.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from constructions.universal.comparisons import (
    LemmaCase,
    comparison_check,
    simulation,
)
from constructions.universal.definitions import TransformerSize, run_target, run_universal
from constructions.universal.layouts import Layout
from constructions.universal.sums import (
    PAPER,
)
from constructions.universal.tree import LAYOUT as TREE
from constructions.universal.unrolling_theory import EXTENSION, unrolling_goals, unrolling_theory
from verify.claims import Check, Source, claim, covers
from verify.counterexamples import Counterexample
from verify.facts import INDUCTION, MATRIX_LAWS
from verify.methods.smt import Smt
from verify.rational import Matrix
from verify.smtlib import World
from verify.verdicts import Status

Path = tuple[int, ...]


# --- the theory's meaning in the code --------------------------------------------------------


def _square(matrix: Matrix, size: int) -> Matrix:
    wide = Matrix.beside([matrix, Matrix.zero(matrix.height, size - matrix.width)])
    return Matrix.stack([wide, Matrix.zero(size - matrix.height, size)])


Summand = Callable[[Path], Matrix]


def unrolling_worlds(layout: Layout = TREE) -> Iterator[World]:
    """The streams of an actual target and of the universal model that simulates it."""
    size = TransformerSize(heads=2, layers=2, head_width=1, token_width=2)
    case = simulation(layout, size, seed=5)
    theirs = run_target(case.target, case.inputs, case.normalise)
    ours = run_universal(case.universal, case.embedding, case.inputs, case.normalise)
    mixes = case.target.mixes()
    values = [[value.dense() for value in layer] for layer in case.universal.values]
    for run, factors in ((theirs, mixes), (ours, values)):
        full = max(stream.width for stream in run.streams) + case.inputs.height
        yield _unrolled(
            size.heads,
            [[_square(a, full) for a in layer] for layer in run.attention],
            [[_square(v, full) for v in layer] for layer in factors],
            [_square(stream, full) for stream in run.streams],
        )


def _unrolled(
    heads: int,
    attention: list[list[Matrix]],
    factors: list[list[Matrix]],
    streams: list[Matrix],
) -> World:
    layers = len(attention)
    zero, unit = Matrix.zero(*streams[0].shape), Matrix.identity(streams[0].height)
    paths = [p for n in range(layers) for p in itertools.product(range(1, heads + 1), repeat=n)]

    def entry(table: list[list[Matrix]], layer: int, head: int) -> Matrix:
        known = 0 <= layer < layers and 1 <= head <= heads
        return table[layer][head - 1] if known else zero

    def left(path: Path) -> Matrix:
        product = unit
        for layer, head in enumerate(path):
            product = entry(attention, layer, head) @ product
        return product

    def right(path: Path) -> Matrix:
        product = unit
        for layer, head in enumerate(path):
            product = product @ entry(factors, layer, head)
        return product

    def printed(path: Path) -> Matrix:
        return left(path) @ (streams[0] @ right(path))

    def psum(length: int, terms: Summand) -> Matrix:
        total = zero
        for path in itertools.product(range(1, heads + 1), repeat=max(length, 0)):
            total = total + terms(path)
        return total

    def around(a: Matrix, terms: Summand, b: Matrix) -> Summand:
        return lambda path: a @ (terms(path) @ b)

    def ext(terms: Summand, head: int) -> Summand:
        return lambda path: terms((*path, head))

    def slices(length: int, terms: Summand) -> tuple[Matrix, ...]:
        return tuple(psum(length, ext(terms, h)) for h in range(1, heads + 1))

    def stream(layer: int) -> Matrix:
        return streams[layer] if 0 <= layer <= layers else zero

    def members(layer: int) -> tuple[Matrix, ...]:
        return tuple(
            entry(attention, layer, h) @ (stream(layer) @ entry(factors, layer, h))
            for h in range(1, heads + 1)
        )

    wrapped = around(attention[0][0], printed, factors[0][-1])
    return World(
        sorts={
            "Mat": [streams[0], attention[0][0], factors[0][-1]],
            "Path": paths,
            "Terms": [printed, wrapped],
            "Family": [members(0), slices(0, wrapped)],
        },
        integers=range(layers + 1),
        symbols={
            "H": heads,
            "mul": lambda a, b: a @ b,
            "at": lambda f, h: f[h - 1] if 1 <= h <= heads else zero,
            "total": lambda f: sum(f[1:], start=f[0]),
            "nil": (),
            "snoc": lambda q, h: (*q, h),
            "len": len,
            "A": lambda layer, head: entry(attention, layer, head),
            "V": lambda layer, head: entry(factors, layer, head),
            "X": stream,
            "left": left,
            "right": right,
            "pick": lambda terms, q: terms(q),
            "psum": psum,
            "ext": ext,
            "around": around,
            "slices": slices,
            "inside": lambda layer, terms, b: tuple(s @ b for s in slices(layer, terms)),
            "members": members,
            "printed": printed,
            "F": printed,
            "G": lambda path: printed(path) if path else printed(()),
            "a0": attention[0][0],
            "b0": factors[0][-1],
        },
        free={"n": range(layers)},
    )


# --- instances -------------------------------------------------------------------------------


def path_sum(
    attention: tuple[tuple[Matrix, ...], ...],
    factors: Callable[[int, int], Matrix],
    inputs: Matrix,
    layers: int,
) -> Matrix:
    """The paper's sum over all head sequences of length `layers`, summand by summand."""
    heads = len(attention[0])
    total = Matrix.zero(inputs.height, inputs.width)
    for path in itertools.product(range(heads), repeat=layers):
        summand = inputs
        for layer, head in enumerate(path):
            summand = attention[layer][head] @ summand @ factors(layer, head)
        total = total + summand
    return total


PathSum = Callable[..., Matrix]


def unrolled_fails(
    layout: Layout, total: PathSum = path_sum
) -> Callable[[LemmaCase], Counterexample | None]:
    """The obligation that every stream of both models is the sum over paths."""

    def holds(case: LemmaCase) -> Counterexample | None:
        chosen = simulation(layout, case.size, case.seed)
        theirs = run_target(chosen.target, chosen.inputs, chosen.normalise)
        ours = run_universal(chosen.universal, chosen.embedding, chosen.inputs, chosen.normalise)
        values = [[value.dense() for value in layer] for layer in chosen.universal.values]

        def value(layer: int, head: int) -> Matrix:
            return values[layer][head]

        for name, run, factors in (
            ("target", theirs, chosen.target.mix),
            ("universal", ours, value),
        ):
            for layer, stream in enumerate(run.streams):
                if total(run.attention, factors, run.streams[0], layer) != stream:
                    return Counterexample(
                        text=f"X^{layer} of the {name} model must be the sum over paths "
                        f"({case.as_json()})",
                        instance=case.as_json(),
                    )
        return None

    return holds


# --- claim -----------------------------------------------------------------------------------


def unrolling_checks(
    extension: str = EXTENSION, layout: Layout = TREE, total: PathSum = path_sum
) -> tuple[Check, ...]:
    """The for-all proof, and the sums formed path by path."""
    return (
        covers(
            Smt(
                goals=lambda: unrolling_goals(
                    unrolling_theory(extension, lambda: unrolling_worlds(layout))
                ),
                instances="all H, L, attention matrices and value factors",
                leans_on=(INDUCTION, MATRIX_LAWS),
            )
        ),
        comparison_check(unrolled_fails(layout, total), layout),
    )


@claim(
    id="universal.paths.unrolling",
    source=Source(PAPER, "Lemma (unrolling), Appendix A.1 and A.2"),
    latex=r"X^l = \sum_{(h_1,\dots,h_l) \in [H]^l} A^{l,h_l} \cdots A^{1,h_1} X^0 "
    r"M^{1,h_1} \cdots M^{l,h_l}",
    scope="all H, l, n and widths; target and universal model alike",
    uses=("universal.sums.laws",),
    expected=Status.PROVED,
)
def streams_are_sums_over_paths() -> tuple[Check, ...]:
    """X^l and X~^l are the sums over head sequences printed in the paper."""
    return unrolling_checks()
