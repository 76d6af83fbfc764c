"""The rule on every window: where the paper's recipe leaves it wrong, and a model that holds it.

Source: Fully Interpretable Minimal Transformers, Table 1, Figures 3 and 4; the decisions are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from constructions.minimal import cover, decision
from constructions.minimal.cover import GroupCover, Leaf, Tree
from constructions.minimal.decision import Tally
from constructions.minimal.definitions import (
    CONTEXT,
    HIDDEN,
    LENGTHS,
    PAPER,
    SHORTEST,
    VOCABULARY,
    WIDTH,
    Model,
    Window,
    shapes,
    window_count,
    window_text,
)
from constructions.minimal.exact import judge
from constructions.minimal.shipped import shipped
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import LINDEMANN_WEIERSTRASS
from verify.methods.exhaustive import Exhaustive
from verify.methods.witness import Witness
from verify.ranges import Range
from verify.verdicts import Json, Status

STATED_PARAMETERS = 250
TRUSTS = ("library:flint", "library:numba", LINDEMANN_WEIERSTRASS.trust)

# --- exhibits --------------------------------------------------------------------------------


def weights_exhibit(model: Model) -> dict[str, Json]:
    """The weights exactly, a vector as one row."""
    return {
        name: [[str(entry) for entry in row] for row in model.exact(name)]
        for name in shapes(model.context, model.hidden)
    }


def _tree_json(tree: Tree) -> Json:
    if isinstance(tree, Leaf):
        return {"box": None if tree.box is None else list(tree.box), "label": tree.label}
    parts: list[Json] = [[list(tokens), _tree_json(part)] for tokens, part in tree.parts]
    return {"at": tree.at, "parts": parts}


def _exhibit(model: Model, tallied: Iterable[tuple[Tally, Sequence[GroupCover]]]) -> Json:
    """Kind `window-cover`: the weights, and for each length a tree for each group, in order."""
    return {
        "weights": weights_exhibit(model),
        "lengths": [
            {
                "length": tally.length,
                "right": tally.right,
                "wrong": tally.wrong,
                "groups": [_tree_json(part.tree) for part in found],
            }
            for tally, found in tallied
        ],
    }


def covers_exhibit(model: Model, covers_of: Mapping[int, Sequence[GroupCover]]) -> Json:
    """Kind `window-cover`, with the numbers that the covers come to."""
    return _exhibit(
        model, ((decision.covered(length, found), found) for length, found in covers_of.items())
    )


def cover_exhibit(model: Model, lengths: Sequence[int]) -> Json:
    """Kind `window-cover` with covers made now."""
    return covers_exhibit(model, {length: cover.cover(model, length) for length in lengths})


# --- 250 parameters --------------------------------------------------------------------------


def parameters_fail(sizes: Mapping[str, tuple[int, ...]]) -> Counterexample | None:
    """The obligation: 250 numbers, and a stream and a head of two coordinates."""
    count = sum(int(np.prod(shape)) for shape in sizes.values())
    wide = {name: sizes[name] for name in ("W_Q", "W_K", "W_V")}
    if count == STATED_PARAMETERS and set(wide.values()) == {(WIDTH, WIDTH)}:
        return None
    return Counterexample(
        text=f"{STATED_PARAMETERS} parameters and heads in the plane are required, got {count} "
        f"and {wide}",
        instance={name: list(shape) for name, shape in sizes.items()},
    )


def parameters_checks(
    find: Callable[[], Mapping[str, tuple[int, ...]]] = shapes,
) -> tuple[Check, ...]:
    """The shapes of the stated reading, counted."""
    return (
        covers(
            Witness(
                find=find,
                holds=parameters_fail,
                exhibit=lambda sizes: {name: list(shape) for name, shape in sizes.items()},
                rechecked_as="parameters",
                instances=f"vocabulary {VOCABULARY}, context {CONTEXT}, width {WIDTH}, hidden "
                f"width {HIDDEN}",
                leans_on=(),
            )
        ),
    )


@claim(
    id="minimal.parameters",
    source=Source(PAPER, "Table 1"),
    latex=r"Vd + Td + 3d^2 + (dh + h + hd + d) + (dV + V) = 250,"
    r"\quad V = 12,\ T = 8,\ d = 2,\ h = 32",
    scope="one head, no biases in Q, K and V, no output projection, biases elsewhere",
    expected=Status.PROVED,
)
def the_model_has_250_parameters() -> tuple[Check, ...]:
    """Under the stated reading of Table 1 the model has 250 parameters, residual stream and head
    two-dimensional.
    """  # noqa: D205 - one statement, in one sentence
    return parameters_checks()


# --- covers and counts -----------------------------------------------------------------------

Covered = Callable[[Model, int], tuple[GroupCover, ...]]


def misjudged(model: Model, covers_found: Sequence[GroupCover]) -> Window | None:
    """A window, the first of its leaf, that is labelled wrongly; None if there is none."""
    for part in covers_found:
        for leaf, allowed in part.leaves():
            window = tuple(min(tokens) for tokens in allowed)
            if judge(model, window).right != (leaf.label == "right"):
                return window
    return None


def table_fails(model: Model, covered: Covered) -> Callable[[int], Counterexample | None]:
    """The obligation: covers of a length hold exactly, and counting comes to the same table."""

    def holds(length: int) -> Counterexample | None:
        found = covered(model, length)
        text = cover.check(model, found)
        one, two = decision.counted(model, length), decision.covered(length, found)
        if not text and one.right + one.wrong != window_count(length):
            text = f"{window_count(length)} windows must be counted, got {one.right + one.wrong}"
        if not text and (one.wrong_of, one.smallest) != (two.wrong_of, two.smallest):
            text = f"counting finds {one.wrong} wrong windows, covers {two.wrong}"
        if not text:
            return None
        window = misjudged(model, found)
        shown = "" if window is None else f"; {window_text(window)} is labelled wrongly"
        return Counterexample(
            text=f"length {length}: {text}{shown}",
            instance={"length": length, "window": None if window is None else list(window)},
        )

    return holds


def table_exhibit(model: Model) -> Callable[[int], Json]:
    """Kind `window-cover`: the numbers are those counted, the trees are the covers."""

    def exhibit(length: int) -> Json:
        return _exhibit(model, [(decision.counted(model, length), cover.cover(model, length))])

    return exhibit


EVERY_WINDOW = Range(
    bound=f"every window of length {SHORTEST} to {CONTEXT}", over=lambda: iter(LENGTHS)
)
RANGES: dict[Profile, Range] = {
    "quick": EVERY_WINDOW,
    "standard": EVERY_WINDOW,
    "deep": EVERY_WINDOW,
}


# --- the table of the paper's recipe ---------------------------------------------------------


def decided_checks(model: Model | None = None, covered: Covered = cover.cover) -> tuple[Check, ...]:
    """Every window of a model, the shipped one by default, decided by counting and by covers."""
    decided = model or shipped("paper").model
    return (
        covers(
            Exhaustive(
                holds=table_fails(decided, covered),
                ranges=RANGES,
                rechecked_as="window-cover",
                exhibit=table_exhibit(decided),
                leans_on=TRUSTS,
            )
        ),
    )


@claim(
    id="minimal.rule.decided",
    source=Source(PAPER, "Figures 3 and 4"),
    latex=r"\{\, x : \operatorname{argmax} f(x) = \{e(x)\} \,\}"
    r"\text{ is known for all windows } x",
    scope="the shipped checkpoint of the paper's recipe; every window that ends in + and holds an "
    "even number",
    expected=Status.BOUNDED,
)
def the_table_of_the_paper_s_recipe_is_complete() -> tuple[Check, ...]:
    """The table of right and wrong windows, lengths 2 to 8, of the checkpoint trained by the
    paper's recipe is complete.
    """  # noqa: D205 - one statement, in one sentence
    return decided_checks()


# --- a model that is right everywhere --------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredModel:
    """A model with covers of all its windows, by length."""

    model: Model
    covers: Mapping[int, tuple[GroupCover, ...]]


def covered_model(
    model: Model, lengths: Sequence[int] = LENGTHS, covered: Covered = cover.cover
) -> CoveredModel:
    """Covers of the lengths, made now."""
    return CoveredModel(model=model, covers={length: covered(model, length) for length in lengths})


def rule_fails(found: CoveredModel) -> Counterexample | None:
    """The obligation: the covers hold exactly and all their leaves are right."""
    for length, parts in found.covers.items():
        tally = decision.covered(length, parts)
        text = cover.check(found.model, parts)
        if not text and tally.smallest is None:
            continue
        if tally.smallest is not None:
            rivals = judge(found.model, tally.smallest).rivals
            text = f"{window_text(tally.smallest)} must be right; {rivals} have greater logits"
        return Counterexample(
            text=f"length {length}: {text}",
            instance={
                "length": length,
                "window": None if tally.smallest is None else list(tally.smallest),
            },
        )
    return None


Counted = Callable[[Model, int], Tally]


def holds_checks(
    model: Model | None = None,
    *,
    covered: Covered = cover.cover,
    counted: Counted = decision.counted,
) -> tuple[Check, ...]:
    """A compact proof for all windows of a model, the shipped one by default, and a count."""
    perfect = model or shipped("windows").model
    return (
        covers(
            Witness(
                find=lambda: covered_model(perfect, covered=covered),
                holds=rule_fails,
                exhibit=lambda found: covers_exhibit(found.model, found.covers),
                rechecked_as="window-cover",
                instances=f"every window of length {SHORTEST} to {CONTEXT}",
                leans_on=("library:flint", LINDEMANN_WEIERSTRASS.trust),
            )
        ),
        supports(
            Exhaustive(
                holds=counted_fails(perfect, counted),
                ranges=RANGES,
                rechecked_as="window-cover",
                exhibit=table_exhibit(perfect),
                leans_on=TRUSTS,
            )
        ),
    )


def counted_fails(
    model: Model, counted: Counted = decision.counted
) -> Callable[[int], Counterexample | None]:
    """The obligation: counting finds no wrong window of a length."""

    def holds(length: int) -> Counterexample | None:
        tally = counted(model, length)
        if tally.smallest is None and tally.right == window_count(length):
            return None
        shown = "" if tally.smallest is None else f", the first {window_text(tally.smallest)}"
        return Counterexample(
            text=f"length {length}: {tally.wrong} windows are wrong{shown}",
            instance={
                "length": length,
                "window": None if tally.smallest is None else list(tally.smallest),
            },
        )

    return holds


@claim(
    id="minimal.rule.holds",
    source=Source(PAPER, "Figures 3 and 4"),
    latex=r"\operatorname{argmax} f(x) = \{e(x)\} \text{ for all windows } x,\ 2 \le |x| \le 8",
    scope="the shipped checkpoint whose loss was taken where the rule speaks; every window that "
    "ends in + and holds an even number",
    expected=Status.PROVED,
)
def the_rule_holds_on_every_window() -> tuple[Check, ...]:
    """The rule holds on every window of length 2 to 8 for the perfect checkpoint, by a compact
    cover.
    """  # noqa: D205 - one statement, in one sentence
    return holds_checks()
