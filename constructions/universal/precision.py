"""Finite precision: rounding errors of target, sparse simulation and random simulation.

    sparse     at most 4 times the target's own error and 8 units of roundoff at the output's scale
    random     at most 10 times the condition number of P_0 times the unit roundoff, at that scale

Errors are the largest over the output's entries, against the ball enclosure of the exact result,
its radius included. Both bounds are observed; beside them every run is held to an a-priori bound
that is derived (`error_bounds`), entry by entry.

Source: Fixed Universal Transformers, Section 3.2, Finite precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from constructions.universal.definitions import TransformerSize
from constructions.universal.error_bounds import Bounded
from constructions.universal.floats import FORMATS, Floats, Format, errors, largest_error
from constructions.universal.probes import coefficients, probe
from constructions.universal.refinement import refined_embedding
from constructions.universal.rounded_runs import (
    BITS,
    Answer,
    RoundedCase,
    answer,
    question,
    target_output,
    universal_output,
)
from constructions.universal.sums import PAPER
from verify.claims import Check, Profile, Source, claim, covers, supports
from verify.methods.floating import Floating, Measurement, Trial, Trials
from verify.rational import Matrix
from verify.verdicts import Status

TIMES_OWN, UNITS = 4, 8
"""The sparse bound: so many times the target's own error, and so many units of roundoff."""
TIMES_CONDITION = 10
"""The random bound: so many times condition number times unit roundoff."""
LIBRARIES = ("library:flint", "library:numpy", "library:torch")
SPARSE_BOUND = (
    f"error of the sparse simulation <= {TIMES_OWN} times the target's own error + {UNITS} u "
    "max |T(X)|"
)
RANDOM_BOUND = (
    f"error of the random simulation <= {TIMES_CONDITION} cond(P_0) u max(1, max |T(X)|), cond in "
    "the infinity norm"
)
DERIVED_BOUND = "every entry's error is within its a-priori bound, for target and simulation"


Solver = Callable[[Matrix, Matrix, Format], tuple[Matrix, int]]
"""E^T from P_0 and C_0^T in a format, and the steps that it took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the mutants change; as they stand, nothing is broken.

    `stored` is what becomes of the exact E before it is rounded; `model_of` is the format that
    a-priori bounds assume for the format of a run. `times_own` and `units` are the sparse bound's;
    `weighed` is what the random bound makes of a condition number where E is the exact one, and
    `solved` how E is solved in a format.
    """

    stored: Callable[[Matrix], Matrix] = lambda exact: exact
    model_of: Callable[[Format], Format] = lambda format: format
    times_own: int = TIMES_OWN
    units: int = UNITS
    weighed: Callable[[float], float] = lambda condition: condition
    solved: Solver = refined_embedding


# --- measurements ----------------------------------------------------------------------------


def _given(trial: Trial, rules: Rules) -> Answer:
    exact = answer(trial.case, trial.seed)
    return replace(exact, embedding=rules.stored(exact.embedding))


def _entries(trial: Trial) -> Callable[[Matrix], Floats]:
    return lambda exact: Floats.of(exact, FORMATS[trial.dtype], trial.device)


def sparse_error(rules: Rules) -> Callable[[Trial], Measurement]:
    """The sparse simulation's error, and the bound that the target's own error gives."""

    def measure(trial: Trial) -> Measurement:
        asked, unit = question(trial.case, trial.seed), float(FORMATS[trial.dtype].unit)
        own = largest_error(target_output(asked, _entries(trial)), asked.exact)
        ours = universal_output(asked, _given(trial, rules), _entries(trial))
        return Measurement(
            error=largest_error(ours, asked.exact),
            bound=rules.times_own * own + rules.units * unit * asked.scale,
            details={"target": own, "scale": asked.scale},
        )

    return measure


def random_error(rules: Rules) -> Callable[[Trial], Measurement]:
    """The random simulation's error, and the bound that the condition number of P_0 gives."""

    def measure(trial: Trial) -> Measurement:
        asked, given = question(trial.case, trial.seed), _given(trial, rules)
        unit, scale = float(FORMATS[trial.dtype].unit), max(1.0, asked.scale)
        ours = universal_output(asked, given, _entries(trial))
        return Measurement(
            error=largest_error(ours, asked.exact),
            bound=TIMES_CONDITION * rules.weighed(given.condition) * unit * scale,
            details={"condition": given.condition, "scale": scale},
        )

    return measure


def solved_error(rules: Rules) -> Callable[[Trial], Measurement]:
    """The random simulation's error where E itself is solved in the format; the same bound."""

    def measure(trial: Trial) -> Measurement:
        asked, given = question(trial.case, trial.seed), answer(trial.case, trial.seed)
        probes, content = probe(given.model, 0).matrix, coefficients(asked.target, 0)
        solved, steps = rules.solved(probes, content, FORMATS[trial.dtype])
        measured = random_error(Rules(stored=lambda _: solved.transposed))(trial)
        return replace(measured, details={**measured.details, "steps": float(steps)})

    return measure


def derived_share(rules: Rules) -> Callable[[Trial], Measurement]:
    """The largest part that any entry's error takes of its a-priori bound, target and simulation.

    The details hold the largest error and the largest bound of each.
    """

    def measure(trial: Trial) -> Measurement:
        asked, given = question(trial.case, trial.seed), _given(trial, rules)
        exact, model = answer(trial.case, trial.seed), rules.model_of(FORMATS[trial.dtype])

        def bounds(matrix: Matrix) -> Bounded:
            return Bounded.of(matrix, model, BITS)

        pairs = {
            "target": (target_output(asked, _entries(trial)), target_output(asked, bounds)),
            "simulation": (
                universal_output(asked, given, _entries(trial)),
                universal_output(asked, exact, bounds),
            ),
        }
        details = {"scale": asked.scale}
        for name, (computed, bounded) in pairs.items():
            details[name] = largest_error(computed, asked.exact)
            details[f"{name} bound"] = float(bounded.error.magnitude_upper())
        share = max(share_of_bound(computed, bounded) for computed, bounded in pairs.values())
        return Measurement(error=share, bound=1.0, details=details)

    return measure


def share_of_bound(computed: Floats, bounded: Bounded) -> float:
    """The largest error / bound over the entries; infinite where something overflowed."""
    found = errors(computed, bounded.exact)
    if found is None:
        return math.inf
    height, width = found.shape
    shares = [Fraction(0)]
    for place in ((row, column) for row in range(height) for column in range(width)):
        seen, most = found[place][1], bounded.error[place][1]
        if seen > 0 and most == 0:
            return math.inf
        shares.append(seen / most if most else Fraction(0))
    return float(max(shares))


# --- trials ----------------------------------------------------------------------------------

_SIZE = TransformerSize(heads=2, layers=2, head_width=4, token_width=4)
_NARROW = TransformerSize(heads=2, layers=2, head_width=2, token_width=2)
_WIDER = (
    TransformerSize(heads=3, layers=2, head_width=4, token_width=4),
    TransformerSize(heads=2, layers=3, head_width=4, token_width=4),
    TransformerSize(heads=2, layers=2, head_width=6, token_width=8),
)
ALL = ("float64", "float32", "bfloat16", "float16")
SOLVED = ALL[:2]
"""Formats in which a draw's probe equations are solved."""
NO_OVERFLOW = ALL[:-1]
"""The a-priori bound of a random simulation cannot rule out that float16 overflows."""


def _sparse_cases(sizes: Iterable[TransformerSize]) -> list[RoundedCase]:
    return [
        RoundedCase(size=size, tokens=6, mask=mask, layout=layout)
        for size in sizes
        for layout, mask in (("tree", "causal"), ("looped", "full"))
    ]


def _drawn_cases(sizes: Iterable[TransformerSize]) -> list[RoundedCase]:
    plain = RoundedCase(size=_SIZE, tokens=6, mask="causal")
    gaussian = replace(plain, distribution="gaussian", mask="full")
    return [
        *(replace(kind, size=size) for size in sizes for kind in (plain, gaussian)),
        *(replace(kind, size=_NARROW) for kind in (gaussian, replace(plain, tied=True))),
    ]


def _trials(
    cases: Callable[[Iterable[TransformerSize]], list[RoundedCase]],
    seeds: tuple[int, int, int],
    dtypes: tuple[str, ...] = ALL,
) -> dict[Profile, Trials]:
    """Targets of H = L = 2, d = d_in = 4, in the deep profile wider ones too; seeds by profile."""

    def chosen(count: int, sizes: tuple[TransformerSize, ...]) -> Trials:
        listed = cases(sizes)
        return Trials(
            scope=f"{count} random targets and inputs for each of {_names(listed)}",
            cases=lambda: listed,
            seeds=count,
            dtypes=dtypes,
        )

    quick, standard, deep = seeds
    return {
        "quick": chosen(quick, (_SIZE,)),
        "standard": chosen(standard, (_SIZE,)),
        "deep": chosen(deep, (_SIZE, *_WIDER)),
    }


def _names(cases: Iterable[RoundedCase]) -> str:
    def name(case: RoundedCase) -> str:
        size = case.size
        sizes = (size.heads, size.layers, size.head_width, size.token_width)
        kind = case.layout or f"draws from {case.distribution}"
        return f"{kind}{' weight-tied' if case.tied else ''} {sizes} under a {case.mask} mask"

    return "(H, L, d, d_in): " + ", ".join(map(name, cases)) + "; six tokens"


def _floating(
    measure: Callable[[Trial], Measurement], trials: dict[Profile, Trials], bound: str
) -> Floating:
    return Floating(
        measure=measure,
        trials=trials,
        bound=bound,
        exhibit=lambda case: case.as_json(),
        leans_on=LIBRARIES,
    )


# --- claims ----------------------------------------------------------------------------------


def sparse_checks(rules: Rules | None = None) -> tuple[Check, ...]:
    """The stated bound, and the derived one."""
    rules = rules or Rules()
    stated, derived = _trials(_sparse_cases, (1, 8, 50)), _trials(_sparse_cases, (1, 2, 5))
    return (
        covers(_floating(sparse_error(rules), stated, SPARSE_BOUND)),
        supports(_floating(derived_share(rules), derived, DERIVED_BOUND)),
    )


@claim(
    id="universal.precision.sparse",
    source=Source(PAPER, "Section 3.2, Finite precision"),
    latex=r"\|\widehat{\mathrm{UTF}}(X, \hat E) - T(X)\|_{\max} \le "
    r"4 \|\hat T(X) - T(X)\|_{\max} + 8 u \|T(X)\|_{\max}",
    scope="random attention-only targets and inputs that the formats hold exactly, E rounded once "
    "from the exact one, X W_V W_O computed in two steps, softmax over logits / sqrt(d)",
    uses=("universal.tree.identity", "universal.looped.identity"),
    expected=Status.SAMPLED,
)
def the_sparse_simulation_is_as_accurate_as_the_target() -> tuple[Check, ...]:
    """In float64, float32, bfloat16 and float16 the sparse simulation's error is at most 4 times
    the target's own error plus 8 units of roundoff at the output's scale.
    """  # noqa: D205 - one statement, in one sentence
    return sparse_checks()


def generic_checks(rules: Rules | None = None) -> tuple[Check, ...]:
    """The stated bound, also for an E that was solved in floating point, and the derived one."""
    rules = rules or Rules()
    stated = _trials(_drawn_cases, (1, 4, 20))
    solved, derived = (
        _trials(lambda sizes: _drawn_cases(sizes)[::2], (1, 1, 5), dtypes)
        for dtypes in (SOLVED, NO_OVERFLOW)
    )
    return (
        covers(_floating(random_error(rules), stated, RANDOM_BOUND)),
        supports(
            _floating(solved_error(rules), solved, f"E solved with refinement: {RANDOM_BOUND}")
        ),
        supports(_floating(derived_share(rules), derived, DERIVED_BOUND)),
    )


@claim(
    id="universal.precision.generic",
    source=Source(PAPER, "Section 3.2, Finite precision"),
    latex=r"\|\widehat{\mathrm{UTF}}(X, \hat E) - T(X)\|_{\max} \le "
    r"10\, \kappa_\infty(P_0)\, u \max(1, \|T(X)\|_{\max})",
    scope="random attention-only targets and inputs, and draws of m = s_0 with entries of about "
    "1/sqrt(m), that the formats hold exactly; E rounded once from the exact solution; E and all "
    "streams below half of what float16 can hold; the bound says something only where "
    "10 cond(P_0) u < 1, which half precision does not meet at these sizes",
    uses=("universal.probes.layer",),
    expected=Status.SAMPLED,
)
def the_random_simulation_is_as_accurate_as_its_condition() -> tuple[Check, ...]:
    """In float64, float32, bfloat16 and float16 the random simulation's error is at most 10 times
    the condition number of P_0 times the unit roundoff, at the output's scale.
    """  # noqa: D205 - one statement, in one sentence
    return generic_checks()
