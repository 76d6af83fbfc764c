"""No fixed ReLU network serves all windows: parity up to S takes S pieces on one line.

The line runs through the prompts a^c b^(S - c) # of the machine of `line_networks`, whose next
token displays b for odd c and a for even c. So the difference of these tokens' scores changes its
sign S times; it is continuous, and affine on each of at most (w + 1)^D pieces, where D is the
number of hidden layers and w their width. Each of the S zeros lies in a piece of its own.

*What it says of Theorem 9.* The paper speaks of a constant number of parameters. In exact
arithmetic D layers of width w reach at most S = (w + 1)^D, so either must grow with S; a width that
stays fixed needs a depth of log S / log(w + 1), and `machines.relu.parity` takes log2(S) + 2.

Source: Sliding-Window Transformers Without Positional Encodings, Theorem 9; the argument is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from constructions.machines.relu import AffineLayer
from constructions.machines.words import PAPER
from lowerbounds.line import LineNetwork, Piece
from lowerbounds.line_networks import (
    SYMBOLS,
    folds,
    machine_case,
    random_network,
    stated_network,
    zigzag,
)
from lowerbounds.pieces_codes import BOUND_RULE, code_goals, same_goals
from lowerbounds.pieces_score import score_goals
from lowerbounds.pieces_theory import affine_goals
from lowerbounds.pieces_worlds import line_worlds
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import CONTINUITY, INDUCTION, INTERMEDIATE_VALUE
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.ranges import Range
from verify.smtlib import Goal, World
from verify.verdicts import Json, Status

Kind = Literal["machine", "folds", "zigzag", "random"]
Grows = Callable[[int, int], int]
"""From the width and the bound before a layer to the bound behind it."""


def grown(width: int, bound: int) -> int:
    """(w + 1) times as many pieces."""
    return (width + 1) * bound


def bound_of(grows: Grows, width: int, depth: int) -> int:
    """The bound behind the last hidden layer; (w + 1)^D for `grown`."""
    bound = 1
    for _ in range(depth):
        bound = grows(width, bound)
    return bound


# --- instances -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LineCase:
    """A network on its line: `size` is S (machine, zigzag), D (folds) or w (random)."""

    kind: Kind
    size: int
    depth: int = 0
    seed: int = 0

    def build(self) -> LineNetwork:
        """The network and its line."""
        match self.kind:
            case "machine":
                return machine_case(self.size)
            case "folds":
                return folds(self.size)
            case "zigzag":
                return zigzag(self.size)
            case "random":
                return random_network(self.size, self.depth, self.seed)

    def as_json(self) -> dict[str, Json]:
        """The case as counterexamples name it."""
        return {"kind": self.kind, "size": self.size, "depth": self.depth, "seed": self.seed}


def pieces_fail(
    grows: Grows = grown, zeros_per_piece: int = 1
) -> Callable[[LineCase], Counterexample | None]:
    """The obligation: pieces within the bound, a piece for each sign change, and the alternation.

    A twin that claims fewer sign changes than pieces says `zeros_per_piece` = 0.
    """

    def holds(case: LineCase) -> Counterexample | None:
        network = case.build()
        pieces, changes = network.pieces(), network.sign_changes()
        bound = bound_of(grows, network.width, network.network.depth)
        spare = 1 - zeros_per_piece
        if len(pieces) > bound:
            text = f"at most {bound} pieces are required, got {len(pieces)}"
        elif changes + spare > len(pieces):
            text = f"{changes} sign changes need {changes + spare} pieces, got {len(pieces)}"
        else:
            text = _forward_trouble(network, pieces)
            if not text and case.kind != "random":
                text = _parity_trouble(case, network, changes)
        if not text:
            return None
        return Counterexample(
            text=f"{case.kind} {case.size}, D = {network.network.depth}, w = {network.width}: "
            f"{text}",
            instance=case.as_json(),
        )

    return holds


def _forward_trouble(network: LineNetwork, pieces: tuple[Piece, ...]) -> str:
    """Every piece must meet forward passes at both ends, so that the score is continuous."""
    for piece in pieces:
        for end in (piece.low, piece.high):
            came, required = piece.slope[0] * end + piece.offset[0], network.score(end)
            if came != required:
                return f"the piece at {end} gives {came}, a forward pass {required}"
    return ""


def _parity_trouble(case: LineCase, network: LineNetwork, changes: int) -> str:
    longest = network.line.longest
    if changes != longest or not network.score(0) < 0:
        return f"the score must be negative at 0 and change its sign {longest} times, got {changes}"
    return _token_trouble(longest) if case.kind == "machine" else ""


def _token_trouble(longest: int) -> str:
    """The next tokens of the prompts must differ in what they display, by the parity."""
    network = stated_network(longest)
    for count in range(longest + 1):
        prompt = network.transformer.prompt("a" * count + "b" * (longest - count))
        token = network.next_token(prompt)
        if (token.displayed, token.label, token.update) != (
            SYMBOLS[count % 2],
            prompt[-1].label,
            0,
        ):
            return f"the prompt with {count} times a is followed by {token}"
    return ""


def pieces_exhibit(case: LineCase) -> Json:
    """Kind `pieces`: the network, its line, its pieces and its scores."""
    network = case.build()
    line = network.line
    return {
        "layers": [_layer_json(layer) for layer in network.network.hidden],
        "output": _layer_json(network.network.output),
        "slope": [str(entry) for entry in line.slope],
        "offset": [str(entry) for entry in line.offset],
        "unit": line.unit,
        "longest": line.longest,
        "plus": network.plus,
        "minus": network.minus,
        "pieces": len(network.pieces()),
        "sign_changes": network.sign_changes(),
        "parity": case.kind != "random",
    }


def _layer_json(layer: AffineLayer) -> Json:
    rows = [dict(row) for row in layer.rows]
    return {
        "rows": [[str(row.get(column, 0)) for column in range(layer.inputs)] for row in rows],
        "bias": [str(entry) for entry in layer.bias],
    }


def _range(longest: int, levels: int, turns: int, seeds: int) -> Range:
    return Range(
        bound=f"the stated machine's MLP for S <= {longest}, {levels} folds, zigzags of at most "
        f"{turns} pieces, {seeds} random networks for each w <= 3 and D <= 3",
        over=lambda: _cases(longest, levels, turns, seeds),
    )


def _cases(longest: int, levels: int, turns: int, seeds: int) -> Iterator[LineCase]:
    for size in range(1, longest + 1):
        yield LineCase(kind="machine", size=size)
    for size in range(1, levels + 1):
        yield LineCase(kind="folds", size=size)
    for size in range(1, turns + 1):
        yield LineCase(kind="zigzag", size=size)
    for size in (1, 2, 3):
        for depth in (1, 2, 3):
            for seed in range(seeds):
                yield LineCase(kind="random", size=size, depth=depth, seed=seed)


RANGES: dict[Profile, Range] = {
    "quick": _range(3, 3, 3, 2),
    "standard": _range(10, 4, 6, 8),
    "deep": _range(40, 6, 12, 40),
}


# --- claims ----------------------------------------------------------------------------------


def pieces_checks(
    bound_rule: str = BOUND_RULE, grows: Grows = grown, zeros_per_piece: int = 1
) -> tuple[Check, ...]:
    """The for-all proof, and the pieces of real networks counted exactly."""

    def goals() -> tuple[Goal, ...]:
        parities = (folds(2), zigzag(3))

        def worlds() -> Iterator[World]:
            return line_worlds((*parities, random_network(2, 2, 3, 5)), grows)

        return (
            *affine_goals(worlds),
            *same_goals(worlds),
            *code_goals(worlds, bound_rule),
            *score_goals(lambda: line_worlds(parities, grows)),
        )

    return (
        covers(
            Smt(
                goals=goals,
                instances="all D, w, S >= 1 and all weights; every neuron may read the line besides"
                " the layer before it",
                leans_on=(INDUCTION, CONTINUITY, INTERMEDIATE_VALUE),
            )
        ),
        supports(
            Exhaustive(
                holds=pieces_fail(grows, zeros_per_piece),
                ranges=RANGES,
                rechecked_as="pieces",
                exhibit=pieces_exhibit,
                leans_on=(),
            )
        ),
    )


@claim(
    id="lowerbounds.pieces.parity",
    source=Source(PAPER, 'Theorem 9, "constant number of parameters"'),
    latex=r"f \text{ computes } c \bmod 2 \text{ for } c = 0, \dots, S \text{ on the line } "
    r"\left(\tfrac{c}{m}, \tfrac{S - c}{m}, \tfrac1m\right),\ m = S + 1 \implies S \le (w + 1)^D",
    scope="exact arithmetic; all D, w, S >= 1 and all weights, residual connections included; the "
    "machine that appends b if the number of a in its window is odd, else a",
    uses=("machines.window.histogram",),
    expected=Status.PROVED,
)
def parity_up_to_s_takes_s_pieces() -> tuple[Check, ...]:
    """A ReLU network of D hidden layers of width w computes the parity of counts up to S only if
    S <= (w+1)^D, on a stated line and for a stated machine.
    """  # noqa: D205 - one statement, in one sentence
    return pieces_checks()
