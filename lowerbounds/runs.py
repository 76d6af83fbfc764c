"""The bound on ReLU networks once more, by whole counts alone: no pieces, no continuity.

Counts 0 to S fall into runs on which no neuron changes its side; there are at most (w + 1)^D. On a
run the score is affine in the count, so three neighbours cannot have scores of alternating sign:
S + 1 <= 2 (w + 1)^D. That is half of what `lowerbounds.pieces.parity` gives, from less: the
activation is any function that is affine for z <= 0 and for z > 0, with a jump or without, so steps
and leaky ReLUs are included.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9; the argument is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from constructions.machines.words import PAPER
from lowerbounds.line_networks import folds, machine_case, random_network, zigzag
from lowerbounds.runs_counting import LONGEST_RUN, runs_goals
from lowerbounds.runs_networks import (
    CLIP,
    LEAKY,
    STEP,
    Activation,
    CountLayer,
    CountNetwork,
    of_line,
    random_counts,
    stairs,
)
from lowerbounds.runs_worlds import Grows, count_worlds
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import INDUCTION
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.ranges import Range
from verify.smtlib import Goal, World
from verify.verdicts import Json, Status

Kind = Literal["machine", "folds", "zigzag", "stairs", "relu", "step", "leaky", "clip"]
DRAWN: tuple[Kind, ...] = ("relu", "step", "leaky")
"""Kinds of drawn networks whose activation has one bend."""
ACTIVATIONS: dict[Kind, Activation] = {"step": STEP, "leaky": LEAKY, "clip": CLIP}


def grown(width: int, runs: int) -> int:
    """(w + 1) times as many runs."""
    return (width + 1) * runs


# --- instances -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCase:
    """A network: `size` is S, D (folds) or w (drawn ones)."""

    kind: Kind
    size: int
    depth: int = 0
    seed: int = 0

    def build(self) -> CountNetwork:
        """The network."""
        match self.kind:
            case "machine":
                return of_line(machine_case(self.size), parity=True)
            case "folds":
                return of_line(folds(self.size), parity=True)
            case "zigzag":
                return of_line(zigzag(self.size), parity=True)
            case "stairs":
                return stairs(self.size)
            case "relu":
                return of_line(random_network(self.size, self.depth, self.seed), parity=False)
            case "step" | "leaky" | "clip":
                return random_counts(self.size, self.depth, self.seed, ACTIVATIONS[self.kind])


def runs_fail(
    grows: Grows = grown, longest: int = LONGEST_RUN
) -> Callable[[RunCase], Counterexample | None]:
    """The obligation: runs within the bound, affine scores on each, and the bound on S."""

    def holds(case: RunCase) -> Counterexample | None:
        network = case.build()
        text = _trouble(network, grows, longest)
        if not text:
            return None
        return Counterexample(
            text=f"{case.kind}, D = {network.depth}, w = {network.width}, S = {network.longest}: "
            f"{text}",
            instance={"kind": case.kind, "size": case.size, "depth": case.depth, "seed": case.seed},
        )

    return holds


def _trouble(network: CountNetwork, grows: Grows, longest: int) -> str:
    runs, bound = network.runs(), 1
    for _ in range(network.depth):
        bound = grows(network.width, bound)
    if len(runs) > bound:
        return f"at most {bound} runs are required, got {len(runs)}"
    scores = [network.at(count).score for count in range(network.longest + 1)]
    for run in runs:
        for c in run[:-2]:
            if scores[c] + scores[c + 2] != 2 * scores[c + 1]:
                return f"the score must be affine on the run from {run[0]}; it is not at {c}"
    if not network.parity:
        return ""
    if not all((score > 0) if count % 2 else (score < 0) for count, score in enumerate(scores)):
        return "the score must be below 0 at even counts and above 0 at odd ones"
    if network.longest + 1 > longest * len(runs):
        return f"{len(runs)} runs of at most {longest} counts cannot hold {network.longest + 1}"
    return ""


def runs_exhibit(case: RunCase) -> Json:
    """Kind `runs`: the network, its runs, and whether its score has the parity's sign."""
    network = case.build()
    return {
        "layers": [_layer_json(layer) for layer in (*network.hidden, network.output)],
        "branches": [[str(entry) for entry in branch] for branch in network.activation.branches],
        "longest": network.longest,
        "runs": [run[0] for run in network.runs()],
        "parity": network.parity,
    }


def _layer_json(layer: CountLayer) -> Json:
    return {
        "rows": [[str(entry) for entry in row] for row in layer.rows],
        "slope": [str(entry) for entry in layer.slope],
        "offset": [str(entry) for entry in layer.offset],
    }


def _range(longest: int, levels: int, seeds: int, drawn: tuple[Kind, ...]) -> Range:
    def over() -> Iterator[RunCase]:
        for size in range(1, longest + 1):
            yield from (RunCase(kind=kind, size=size) for kind in ("stairs", "machine"))
        yield from (RunCase(kind="folds", size=size) for size in range(1, levels + 1))
        yield from (RunCase(kind="zigzag", size=size) for size in range(2, longest + 1))
        for kind, size, depth, seed in itertools.product(drawn, (1, 2, 3), (1, 2, 3), range(seeds)):
            yield RunCase(kind=kind, size=size, depth=depth, seed=seed)

    return Range(
        bound=f"the stated machine's MLP, stairs and zigzags for S <= {longest}, {levels} folds, "
        f"{seeds} random networks for each w <= 3, D <= 3 and each activation: {', '.join(drawn)}",
        over=over,
    )


def run_ranges(drawn: tuple[Kind, ...]) -> dict[Profile, Range]:
    """Stated networks, and drawn ones of these kinds."""
    return {
        "quick": _range(3, 3, 2, drawn),
        "standard": _range(10, 4, 6, drawn),
        "deep": _range(24, 6, 30, drawn),
    }


# --- claim -----------------------------------------------------------------------------------


def runs_checks(
    grows: Grows = grown,
    *,
    longest: int = LONGEST_RUN,
    drawn: tuple[Kind, ...] = DRAWN,
) -> tuple[Check, ...]:
    """The proof for all networks, and real ones whose runs are listed.

    `longest` is how many counts a run of alternating scores may hold, `grows` the bound on runs,
    and `drawn` names the activations of the drawn networks.
    """

    def parities() -> Iterator[World]:
        return count_worlds((of_line(folds(2), parity=True), stairs(3)), grows)

    def worlds() -> Iterator[World]:
        *_, kind = drawn
        cases = (random_counts(2, 2, 3, ACTIVATIONS[kind]), random_counts(2, 1, 5, STEP))
        return count_worlds((*cases, of_line(folds(2), parity=True)), grows)

    def goals() -> tuple[Goal, ...]:
        return runs_goals(worlds, parities, longest)

    return (
        covers(
            Smt(
                goals=goals,
                instances="all D, w, S >= 1, all weights, and all activations that are affine on "
                "both sides of 0",
                leans_on=(INDUCTION,),
            )
        ),
        supports(
            Exhaustive(
                holds=runs_fail(grows, longest),
                ranges=run_ranges(drawn),
                rechecked_as="runs",
                exhibit=runs_exhibit,
                leans_on=(),
            )
        ),
    )


@claim(
    id="lowerbounds.pieces.runs",
    source=Source(PAPER, 'Theorem 9, "constant number of parameters"'),
    latex=r"f \text{ computes } c \bmod 2 \text{ for } c = 0, \dots, S \implies "
    r"S + 1 \le 2 (w + 1)^D",
    scope="exact arithmetic; all D, w, S >= 1 and all weights, residual connections included; any "
    "activation that is affine for z <= 0 and for z > 0, continuous or not",
    uses=("machines.window.histogram",),
    expected=Status.PROVED,
)
def parity_up_to_s_takes_runs() -> tuple[Check, ...]:
    """A network of D hidden layers of width w computes the parity of counts up to S on a stated
    line only if S + 1 <= 2 (w+1)^D; a second argument, by whole counts, without continuity.
    """  # noqa: D205 - one statement, in one sentence
    return runs_checks()
