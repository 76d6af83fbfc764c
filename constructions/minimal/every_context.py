"""The rule at every context T: a model in the plane that is built, not trained, and proved right.

The proof is for all T at once. Beside it every window of small contexts is covered by sets whose
outputs are enclosed with the true exponentials.

Source: ours; the rule is that of Fully Interpretable Minimal Transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from constructions.minimal.built import RULES, Rules, built
from constructions.minimal.built_lemmas import LEAST_RATE, MARGIN, OTHER_MARGIN
from constructions.minimal.built_theory import built_goals
from constructions.minimal.built_worlds import built_worlds
from constructions.minimal.definitions import PAPER, SHORTEST
from constructions.minimal.rule import cover_exhibit, covered_model, rule_fails
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.counterexamples import Counterexample
from verify.facts import EXPONENTIAL, EXPONENTIAL_SERIES, INDUCTION, LINDEMANN_WEIERSTRASS
from verify.methods.exhaustive import Exhaustive
from verify.methods.smt import Smt
from verify.ranges import Range
from verify.verdicts import Json, Status

Case = tuple[int, tuple[int, ...]]
"""A context, and lengths of windows."""


# --- instances -------------------------------------------------------------------------------


def built_fails(rules: Rules = RULES) -> Callable[[Case], Counterexample | None]:
    """The obligation: a cover shows every window of these lengths to be right."""

    def holds(case: Case) -> Counterexample | None:
        context, lengths = case
        found = rule_fails(covered_model(built(context, rules=rules), lengths))
        if found is None:
            return None
        return replace(
            found,
            text=f"T = {context}, {found.text}",
            instance={"context": context, **found.instance},
        )

    return holds


def built_exhibit(case: Case) -> Json:
    """Kind `window-cover`: the weights, and the covers."""
    context, lengths = case
    return cover_exhibit(built(context), lengths)


def every_length(context: int) -> tuple[int, ...]:
    """The lengths of a context's windows."""
    return tuple(range(SHORTEST, context + 1))


def _range(contexts: Sequence[int], longer: Sequence[Case] = ()) -> Range:
    def over() -> Iterator[Case]:
        yield from ((context, every_length(context)) for context in contexts)
        yield from longer

    parts = [f"every window of T = {', '.join(map(str, contexts))}"]
    parts += [f"of T = {context} those of lengths {lengths}" for context, lengths in longer]
    return Range(bound="; ".join(parts), over=over)


_SMALL = range(SHORTEST, 9)
RANGES: dict[Profile, Range] = {
    "quick": _range(range(SHORTEST, 6)),
    "standard": _range((*_SMALL, 16)),
    "deep": _range((*_SMALL, 16, 32), ((64, (2, 33, 64)),)),
}


# --- claim -----------------------------------------------------------------------------------


def built_checks(rules: Rules = RULES) -> tuple[Check, ...]:
    """The proof for all T, and covers of small contexts."""
    return (
        covers(
            Smt(
                goals=lambda: built_goals(partial(built_worlds, rules)),
                instances="all T >= 2, all windows of 2 to T tokens that end in + and hold an even "
                "number; real arithmetic",
                leans_on=(INDUCTION, EXPONENTIAL, EXPONENTIAL_SERIES),
            )
        ),
        supports(
            Exhaustive(
                holds=built_fails(rules),
                ranges=RANGES,
                rechecked_as="window-cover",
                exhibit=built_exhibit,
                leans_on=("library:flint", LINDEMANN_WEIERSTRASS.trust),
            )
        ),
    )


@claim(
    id="minimal.built.every_context",
    source=Source(PAPER, "beyond the paper"),
    latex=r"\forall T\ \exists f:\ \operatorname{argmax} f(x) = \{e(x)\}"
    r"\text{ for all windows } x,\ 2 \le |x| \le T",
    scope="one head, width 2, weights that grow linearly in T, real arithmetic; the required logit "
    f"leads all others by at least {MARGIN}, those of tokens that are not even by {OTHER_MARGIN}, "
    f"from exp(5 / sqrt 2) >= {LEAST_RATE}",
    expected=Status.PROVED,
)
def a_built_model_is_right_at_every_context() -> tuple[Check, ...]:
    """An explicit two-dimensional model satisfies the rule for every context length."""
    return built_checks()
