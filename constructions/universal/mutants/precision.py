"""Wrong versions of what is claimed of enclosures and of finite precision."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from constructions.universal.enclosed import Gate, enclosure_checks
from constructions.universal.floats import FORMATS, Floats, Format
from constructions.universal.precision import Rules, generic_checks, sparse_checks
from constructions.universal.refinement import refined_embedding
from verify.claims import Check
from verify.mutants import mutant
from verify.rational import Matrix


def off_by(change: Fraction) -> Callable[[Matrix], Matrix]:
    """E with its first entry changed."""
    return lambda exact: exact + Matrix.with_ones(*exact.shape, [0], [0]).scaled(change)


def other_gate(gate: Gate) -> Gate:
    """GELU for SiLU, and SiLU for GELU."""
    return "gelu" if gate == "silu" else "silu"


def in_bfloat16(exact: Matrix) -> Matrix:
    """E rounded to bfloat16, whatever the format of the run."""
    rounded = Floats.of(exact, FORMATS["bfloat16"]).exact()
    return exact if rounded is None else rounded


def always_double(_: Format) -> Format:
    """The model of float64, whatever the format of the run."""
    return FORMATS["float64"]


@mutant(of="universal.enclosure", breaks="construction", latex=r"\hat E_{11} = E_{11} + 10^{-20}")
def a_coordinate_may_be_off_in_the_twentieth_decimal() -> tuple[Check, ...]:
    """Both outputs agree to 30 decimals if one entry of E is off by 10^-20."""
    return enclosure_checks(embedded=off_by(Fraction(1, 10**20)))


@mutant(of="universal.enclosure", breaks="construction", name="gate", latex=r"\sigma' \ne \sigma")
def the_universal_gate_may_be_another() -> tuple[Check, ...]:
    """A target with SiLU is simulated by a universal model with GELU, and the other way round."""
    return enclosure_checks(gate_of=other_gate)


@mutant(of="universal.precision.sparse", breaks="precision", latex=r"\hat E = \mathrm{bfloat16}(E)")
def the_sparse_embedding_may_be_of_lower_precision() -> tuple[Check, ...]:
    """E may be stored in bfloat16 for runs in any format."""
    return sparse_checks(Rules(stored=in_bfloat16))


@mutant(
    of="universal.precision.sparse",
    breaks="construction",
    name="corrupted",
    latex=r"\hat E_{11} = E_{11} + 1/8",
)
def a_coordinate_of_the_sparse_embedding_may_be_wrong() -> tuple[Check, ...]:
    """The sparse simulation is as accurate if one entry of E is off by 1/8."""
    return sparse_checks(Rules(stored=off_by(Fraction(1, 8))))


@mutant(
    of="universal.precision.sparse",
    breaks="bound",
    name="derived",
    latex=r"u = 2^{-53} \text{ in every format}",
)
def bounds_of_double_precision_hold_in_all() -> tuple[Check, ...]:
    """The a-priori bounds of float64 hold in every format."""
    return sparse_checks(Rules(model_of=always_double))


@mutant(
    of="universal.precision.generic", breaks="precision", latex=r"\hat E = \mathrm{bfloat16}(E)"
)
def the_solved_embedding_may_be_of_lower_precision() -> tuple[Check, ...]:
    """The solved E may be stored in bfloat16 for runs in any format."""
    return generic_checks(Rules(stored=in_bfloat16))


@mutant(
    of="universal.precision.generic",
    breaks="construction",
    name="corrupted",
    latex=r"\hat E_{11} = E_{11} + 1/8",
)
def a_coordinate_of_the_solved_embedding_may_be_wrong() -> tuple[Check, ...]:
    """The random simulation is as accurate if one entry of E is off by 1/8."""
    return generic_checks(Rules(stored=off_by(Fraction(1, 8))))


@mutant(
    of="universal.precision.sparse",
    breaks="bound",
    name="own",
    latex=r"\|\widehat{\mathrm{UTF}}(X, \hat E) - T(X)\|_{\max} \le \|\hat T(X) - T(X)\|_{\max}",
)
def the_sparse_simulation_is_no_worse_than_the_target() -> tuple[Check, ...]:
    """The sparse simulation's error is at most the target's own."""
    return sparse_checks(Rules(times_own=1, units=0))


@mutant(
    of="universal.precision.generic",
    breaks="bound",
    name="condition",
    latex=r"10\, u \max(1, \|T(X)\|_{\max})",
)
def the_condition_number_does_not_count() -> tuple[Check, ...]:
    """The random simulation's error is at most 10 times the unit roundoff at that scale."""
    return generic_checks(Rules(weighed=lambda _: 1.0))


def solved_in_bfloat16(probes: Matrix, content: Matrix, _: Format) -> tuple[Matrix, int]:
    """E^T solved in bfloat16, whatever the format of the run."""
    return refined_embedding(probes, content, FORMATS["bfloat16"])


@mutant(of="universal.precision.generic", breaks="precision", name="solved")
def the_embedding_may_be_solved_in_lower_precision() -> tuple[Check, ...]:
    """E may be solved in bfloat16 for runs in any format."""
    return generic_checks(Rules(solved=solved_in_bfloat16))


@mutant(
    of="universal.precision.generic",
    breaks="bound",
    name="derived",
    latex=r"u = 2^{-53} \text{ in every format}",
)
def bounds_of_double_precision_hold_in_all_for_draws() -> tuple[Check, ...]:
    """The a-priori bounds of float64 hold in every format, for draws too."""
    return generic_checks(Rules(model_of=always_double))
