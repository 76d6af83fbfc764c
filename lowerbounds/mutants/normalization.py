"""Wrong versions of what is claimed of LayerNorm."""

from __future__ import annotations

from fractions import Fraction

from lowerbounds.layer_norm import PostNorm
from lowerbounds.normalization import bias_checks, scale_checks
from lowerbounds.normalization_instances import Rules
from verify.claims import Check
from verify.mutants import mutant
from verify.rational import Matrix


def with_trained_shift(inputs: Matrix, embedding: Matrix) -> Matrix:
    """X E with 2 and -2 added to the last two coordinates of every row, unless E is zero."""
    width, trained = embedding.width, embedding != Matrix.zero(*embedding.shape)
    shift = [0] * (width - 2) + ([2, -2] if trained else [0, 0])
    return inputs @ embedding + Matrix.from_rows([shift] * inputs.height)


@mutant(
    of="lowerbounds.normalization.bias",
    breaks="construction",
    latex=r"F(XE + \mathbf{1} s^\top) = F(0) \text{ at } X = 0",
)
def a_trained_shift_may_follow_the_embedding() -> tuple[Check, ...]:
    """A fixed model with a trained shift added after E has one output at X = 0."""
    return bias_checks(embedded="(add (mul zero E) E)", embed=with_trained_shift)


@mutant(
    of="lowerbounds.normalization.bias",
    breaks="construction",
    name="same_shift",
    latex=r"T_\beta(0) \ne F(0) \text{ for } \beta = F(0)_1",
)
def the_fixed_output_itself_may_be_the_shift() -> tuple[Check, ...]:
    """The target whose last shift is the fixed output differs from it at X = 0."""
    return bias_checks(other="0.0")


@mutant(of="lowerbounds.normalization.scale", breaks="bound", latex=r"\hat y_i^2 \le m - 2")
def normalised_coordinates_are_smaller() -> tuple[Check, ...]:
    """The square of a normalised coordinate is at most m - 2."""
    return scale_checks(Rules(most=lambda width: width - 2), most="(- (to_real m) 2.0)")


@mutant(
    of="lowerbounds.normalization.scale", breaks="size", name="narrow_target", latex=r"d_{in} \ge 1"
)
def targets_may_be_one_wide() -> tuple[Check, ...]:
    """A target of width 1 exceeds every bound."""
    return scale_checks(Rules(least_width=1))


@mutant(
    of="lowerbounds.normalization.scale",
    breaks="construction",
    name="bound_as_scale",
    latex=r"\gamma = b / \hat y_1",
)
def the_bound_is_exceeded_by_reaching_it() -> tuple[Check, ...]:
    """The last scale b / h, without the 1, exceeds the bound b."""
    return scale_checks(Rules(scale=lambda bound, hat: bound / hat), gain="(/ {bound} {hat})")


def without_shifts(model: PostNorm, room: Fraction) -> list[Fraction]:
    """sum_j |gamma_j| B |U_jc|."""
    sizes = [abs(scale) * room for scale in model.norms[-1].scale]
    columns = model.readout.transposed.rows()
    return [
        sum((s * abs(u) for s, u in zip(sizes, column, strict=True)), Fraction(0))
        for column in columns
    ]


@mutant(
    of="lowerbounds.normalization.scale",
    breaks="bound",
    name="shifts_unbounded",
    latex=r"\sum_j |\gamma_j| \sqrt{m-1} |U_{jc}|",
)
def shifts_do_not_count() -> tuple[Check, ...]:
    """The bound needs no term for the shifts."""
    return scale_checks(Rules(limits=without_shifts))


@mutant(of="lowerbounds.normalization.bias", breaks="construction", name="shift_in_the_code")
def the_code_may_add_a_trained_shift() -> tuple[Check, ...]:
    """The code's fixed model may add a trained shift of which the theory does not speak."""
    return bias_checks(embed=with_trained_shift)
