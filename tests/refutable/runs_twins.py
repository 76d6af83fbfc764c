"""Wrong twins of the bound by runs of counts: all are refuted.

`certiformer verify tests/refutable/runs_twins.py` finds the smallest network on which each fails.
"""

from __future__ import annotations

from pathlib import Path

from lowerbounds.runs import runs_checks
from verify.claims import Check, load_file

twin = load_file(Path(__file__).with_name("refuting.py")).twin


@twin("lowerbounds.pieces.runs", r"S + 1 \le 2 w^D")
def a_layer_multiplies_runs_by_its_width() -> tuple[Check, ...]:
    """Each hidden layer makes at most w times as many runs."""
    return runs_checks(lambda width, runs: width * runs)


@twin("lowerbounds.pieces.runs.sum", r"S + 1 \le 2 (w D + 1)")
def a_layer_adds_its_width_to_the_runs() -> tuple[Check, ...]:
    """Each hidden layer adds at most w runs."""
    return runs_checks(lambda width, runs: runs + width)


@twin("lowerbounds.pieces.runs.single", r"S + 1 \le (w + 1)^D")
def a_run_holds_one_count() -> tuple[Check, ...]:
    """Two neighbours with scores of other signs never lie in one run."""
    return runs_checks(longest=1)


@twin("lowerbounds.pieces.runs.two_bends", r"S + 1 \le 2 (w + 1)^D")
def an_activation_has_two_bends() -> tuple[Check, ...]:
    """The bound for activations in three affine parts, such as min(max(z, 0), 2)."""
    return runs_checks(drawn=("clip",))
