"""Padding gated blocks to a common feed-forward width with zero units changes nothing.

Appendix E's hidden widths q_l = r s_l differ from layer to layer. Units with zero gate, up and
down parameters add nothing to any stream, so the sparse construction can be given one width.

Source: Fixed Universal Transformers, Appendix E, Scope.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from constructions.universal.comparisons import (
    LemmaCase,
    Simulation,
    full_exhibit,
    lemma_ranges,
    simulation,
)
from constructions.universal.definitions import (
    TransformerSize,
    Universal,
    run_target,
    run_universal,
)
from constructions.universal.instances import Kind
from constructions.universal.lemma import padded
from constructions.universal.maps import Ones
from constructions.universal.nonlinearities import causal_mask
from constructions.universal.routed import LAYOUT as ROUTED
from constructions.universal.sums import MATRICES, PAPER
from verify.claims import Check, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import INDUCTION, MATRIX_LAWS
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.rational import Matrix
from verify.smtlib import Axiom, Goal, Theory, World, induction
from verify.verdicts import Json, Status

GATED: tuple[Kind, ...] = ((2, False), (1, True))


def at_width(model: Universal, hidden: int) -> Universal:
    """The model with zero units up to a common feed-forward width in every layer.

    gates, ups: (m, hidden); downs: (hidden, m); `hidden` at least every q_l
    """

    def wider(part: Ones) -> Ones:
        return replace(part, width=hidden)

    def taller(part: Ones) -> Ones:
        return replace(part, height=hidden)

    return replace(
        model,
        gates=tuple(map(wider, model.gates)),
        ups=tuple(map(wider, model.ups)),
        downs=tuple(map(taller, model.downs)),
    )


def common_width(size: TransformerSize) -> int:
    """The largest q_l, that of the first layer, and one more."""
    return size.hidden_width(0) + 1


# --- theory ----------------------------------------------------------------------------------

ZERO_UNIT = "(= (down j) zero)"
"""What a padded unit's down row is; the mutant replaces it."""

_DECLARATIONS = (
    MATRICES
    + """
(declare-const zero Mat) (declare-const q Int) (declare-const wide Int) (declare-const n Int)
(declare-const L Int) (declare-const k Int) (declare-const S Mat)
(declare-fun add (Mat Mat) Mat) (declare-fun act (Mat) Mat) (declare-fun had (Mat Mat) Mat)
(declare-fun gate (Int) Mat) (declare-fun up (Int) Mat) (declare-fun down (Int) Mat)
(declare-fun partial (Int) Mat)
(declare-fun mlp (Int Mat) Mat) (declare-fun mlpWide (Int Mat) Mat)
(declare-fun sums (Int Mat) Mat) (declare-fun after (Int Mat Mat) Mat)
(declare-fun X (Int) Mat) (declare-fun Y (Int) Mat)
(define-fun unit ((j Int)) Mat (mul (had (act (mul S (gate j))) (mul S (up j))) (down j)))
"""
)


def padding_theory(zero_unit: str, worlds: Callable[[], Iterator[World]]) -> Theory:
    """One block's units summed one by one, q of them and then zero ones; and all layers."""
    return Theory(
        name="padded blocks",
        declarations=_DECLARATIONS,
        axioms=(
            Axiom("widths", "(and (>= q 0) (<= q wide) (>= L 1))", "q units, padded to more"),
            Axiom(
                "padding",
                f"""(forall ((j Int)) (! (=> (and (< q j) (<= j wide)) {zero_unit})
                  :pattern ((down j))))""",
                "units beyond q have zero parameters",
            ),
            Axiom(
                "zero",
                """(forall ((a Mat)) (! (and (= (mul a zero) zero) (= (add a zero) a))
                  :pattern ((mul a zero)) :pattern ((add a zero))))""",
                "A 0 = 0 and A + 0 = A",
            ),
            Axiom(
                "units",
                """(forall ((j Int)) (! (=> (and (<= 0 j) (< j wide))
                  (= (partial (+ j 1)) (add (partial j) (unit (+ j 1)))))
                  :pattern ((partial (+ j 1)))))""",
                "a block is the sum of its units",
            ),
            Axiom(
                "layers",
                """(and (= (X 0) (Y 0)) (forall ((l Int)) (! (=> (and (<= 0 l) (< l L)) (and
                  (= (X (+ l 1)) (after l (sums l (X l)) (mlp l (sums l (X l)))))
                  (= (Y (+ l 1)) (after l (sums l (Y l)) (mlpWide l (sums l (Y l)))))))
                  :pattern ((X (+ l 1))))))""",
                "a stream depends on the sum over heads and on what the block makes of it",
            ),
        ),
        worlds=worlds,
    )


def padding_goals(theory: Theory) -> tuple[Goal, ...]:
    """Zero units add nothing, so blocks are equal, so streams are."""
    same = "(forall ((l Int) (s Mat)) (! (= (mlp l s) (mlpWide l s)) :pattern ((mlpWide l s))))"
    return (
        Goal(
            name="a zero unit adds nothing",
            theory=theory,
            assumptions=("(and (<= q n) (< n wide))",),
            conclusion="(= (unit (+ n 1)) zero)",
        ),
        *induction(
            name="a padded block is the block",
            theory=theory,
            invariant="(= (partial {0}) (partial q))".format,
            base="q",
            step=("n", "(+ n 1)"),
            step_assumptions=("(and (<= q n) (< n wide))", "(= (unit (+ n 1)) zero)"),
        ),
        *induction(
            name="equal blocks make equal streams",
            theory=theory,
            invariant="(= (X {0}) (Y {0}))".format,
            base="0",
            step=("k", "(+ k 1)"),
            base_assumptions=(same,),
            step_assumptions=("(and (<= 0 k) (< k L))", same),
        ),
    )


def padding_worlds(pad: Callable[[Universal, int], Universal] = at_width) -> Iterator[World]:
    """Actual padded models: the units of their first layer, and their streams."""
    for neurons, residual in GATED:
        size = TransformerSize(
            heads=1, layers=2, head_width=1, token_width=1, neurons=neurons, residual=residual
        )
        yield _world(simulation(ROUTED, size, seed=3), pad)


def _world(case: Simulation, pad: Callable[[Universal, int], Universal]) -> World:
    model, size = case.universal, case.universal.size
    wide = common_width(size)
    full = max(model.width, wide)
    padded_model = pad(model, wide)
    ours, theirs = (
        run_universal(each, case.embedding, case.inputs, case.normalise, case.activate)
        for each in (model, padded_model)
    )
    zero, stream = Matrix.zero(full, full), padded(ours.sums[0], full)

    def column(matrix: Matrix, j: int) -> Matrix:
        inside = 1 <= j <= matrix.width
        return padded(matrix.select_columns([j - 1]), full) if inside else zero

    gate, up = padded_model.gates[0].dense(), padded_model.ups[0].dense()
    down = padded_model.downs[0].dense().transposed

    def act(part: Matrix) -> Matrix:
        return padded(case.activate(part), full)

    def unit(j: int) -> Matrix:
        hidden = act(stream @ column(gate, j)).hadamard(stream @ column(up, j))
        return hidden @ column(down, j).transposed

    totals = [zero]
    for j in range(1, wide + 1):
        totals.append(totals[-1] + unit(j))

    def block(of: Universal) -> Callable[[int, Matrix], Matrix]:
        def run(layer: int, total: Matrix) -> Matrix:
            if not 0 <= layer < size.layers:
                return zero
            corner = total.select_columns(range(model.width))
            made = of.downs[layer].read(
                case.activate(of.gates[layer].read(corner)).hadamard(of.ups[layer].read(corner))
            )
            return padded(made, full)

        return run

    streams = [padded(x, full) for x in ours.streams]
    sums = {(layer, streams[layer]): padded(ours.sums[layer], full) for layer in range(size.layers)}

    others = [padded(y, full) for y in theirs.streams]

    def stream_at(known: list[Matrix], layer: int) -> Matrix:
        return known[layer] if 0 <= layer < len(known) else zero

    def partial_sum(n: int) -> Matrix:
        return totals[n] if 0 <= n < len(totals) else zero

    def after(layer: int, total: Matrix, made: Matrix) -> Matrix:
        del layer
        return made + total if size.residual else made

    return World(
        sorts={"Mat": [zero, stream, column(up, 1), totals[-1]]},
        integers=range(-1, wide + 2),
        symbols={
            "zero": zero,
            "q": size.hidden_width(0),
            "wide": wide,
            "L": size.layers,
            "S": stream,
            "mul": lambda a, b: a @ b,
            "add": lambda a, b: a + b,
            "act": act,
            "had": lambda a, b: a.hadamard(b),
            "gate": lambda j: column(gate, j),
            "up": lambda j: column(up, j),
            "down": lambda j: column(down, j).transposed,
            "partial": partial_sum,
            "mlp": block(model),
            "mlpWide": block(padded_model),
            "sums": lambda layer, x: sums.get((layer, x), zero),
            "after": after,
            "X": functools.partial(stream_at, streams),
            "Y": functools.partial(stream_at, others),
        },
        free={"n": range(wide + 1), "k": range(size.layers)},
    )


# --- claim -----------------------------------------------------------------------------------


def padding_fails(
    pad: Callable[[Universal, int], Universal],
) -> Callable[[LemmaCase], Counterexample | None]:
    """The obligation that the padded model has one hidden width and the target's output."""

    def holds(case: LemmaCase) -> Counterexample | None:
        chosen = simulation(ROUTED, case.size, case.seed)
        wide = common_width(case.size)
        model = pad(chosen.universal, wide)
        widths = {gate.width for gate in (*model.gates, *model.ups)}
        widths |= {down.height for down in model.downs}
        theirs = run_target(chosen.target, chosen.inputs, chosen.normalise, chosen.activate)
        ours = run_universal(
            model, chosen.embedding, chosen.inputs, chosen.normalise, chosen.activate
        )
        if widths == {wide} and ours.output == theirs.output:
            return None
        return Counterexample(
            text=f"blocks padded to {wide} units must compute the target; widths {sorted(widths)} "
            f"or the output differ ({case.as_json()})",
            instance=case.as_json(),
        )

    return holds


def _exhibit(pad: Callable[[Universal, int], Universal]) -> Callable[[LemmaCase], Json]:
    def exhibit(case: LemmaCase) -> Json:
        chosen = simulation(ROUTED, case.size, case.seed)
        wide = common_width(case.size)
        model: Any = pad(chosen.universal, wide)
        shown = full_exhibit(
            replace(chosen, universal=model), causal_mask(3), "scrambled", "softsign"
        )
        return {**shown, "universal": {**shown["universal"], "hidden": wide}}

    return exhibit


def padding_checks(
    zero_unit: str = ZERO_UNIT,
    pad: Callable[[Universal, int], Universal] = at_width,
    kinds: Sequence[Kind] = GATED,
) -> tuple[Check, ...]:
    """Zero units for every size, and padded models run exactly."""
    return (
        covers(
            Smt(
                goals=lambda: padding_goals(padding_theory(zero_unit, lambda: padding_worlds(pad))),
                instances="all sizes, every common width at least every q_l, every activation",
                leans_on=(INDUCTION, MATRIX_LAWS),
            )
        ),
        supports(
            Exhaustive(
                holds=padding_fails(pad),
                ranges=lemma_ranges(kinds),
                rechecked_as="simulation",
                exhibit=_exhibit(pad),
            )
        ),
    )


@claim(
    id="universal.gated.common_width",
    source=Source(PAPER, "Appendix E, Scope"),
    latex=r"R_g = [R_g^l, 0],\ R_u = [R_u^l, 0],\ R_d = \begin{bmatrix} R_d^l \\ 0 \end{bmatrix}",
    scope="all sizes and every common width at least every q_l, residual or not",
    uses=("universal.gated.sparse",),
    expected=Status.PROVED,
)
def zero_units_change_nothing() -> tuple[Check, ...]:
    """Padding the sparse construction to a common feed-forward width with zero units changes
    nothing.
    """  # noqa: D205 - one statement, in one sentence
    return padding_checks()
