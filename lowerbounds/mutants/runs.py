"""Wrong versions of the bound by runs of counts."""

from __future__ import annotations

from lowerbounds.runs import grown, runs_checks
from verify.claims import Check
from verify.mutants import mutant


@mutant(of="lowerbounds.pieces.runs", breaks="bound", latex=r"S + 1 \le 2 w^D")
def a_layer_multiplies_runs_by_its_width() -> tuple[Check, ...]:
    """Each hidden layer makes at most w times as many runs."""
    return runs_checks(lambda width, runs: width * runs)


@mutant(of="lowerbounds.pieces.runs", breaks="bound", name="sum", latex=r"S + 1 \le 2 (w D + 1)")
def a_layer_adds_its_width_to_the_runs() -> tuple[Check, ...]:
    """Each hidden layer adds at most w runs."""
    return runs_checks(lambda width, runs: runs + width)


@mutant(of="lowerbounds.pieces.runs", breaks="size", name="single", latex=r"S + 1 \le (w + 1)^D")
def a_run_holds_one_count() -> tuple[Check, ...]:
    """Two neighbours with scores of other signs never lie in one run."""
    return runs_checks(longest=1)


@mutant(
    of="lowerbounds.pieces.runs",
    breaks="condition",
    name="two_bends",
    latex=r"S + 1 \le 2 (w + 1)^D",
)
def an_activation_has_two_bends() -> tuple[Check, ...]:
    """The bound for activations in three affine parts, such as min(max(z, 0), 2)."""
    return runs_checks(drawn=("clip",))


@mutant(
    of="lowerbounds.pieces.runs",
    breaks="bound",
    name="third_neuron",
    latex=r"S + 1 \le 2 (\min(w, 2) + 1)^D",
)
def a_third_neuron_cuts_nothing() -> tuple[Check, ...]:
    """A hidden layer makes no more runs than its first two neurons."""
    return runs_checks(lambda width, runs: grown(min(width, 2), runs))
