"""Wrong versions of the bound by affine pieces."""

from __future__ import annotations

from lowerbounds.pieces import pieces_checks
from verify.claims import Check
from verify.mutants import mutant


@mutant(of="lowerbounds.pieces.parity", breaks="bound", latex=r"S \le w D + 1")
def pieces_add_up_from_layer_to_layer() -> tuple[Check, ...]:
    """A layer of w neurons adds at most w pieces."""
    return pieces_checks("(+ (bound j) w)", lambda width, bound: bound + width)


@mutant(of="lowerbounds.pieces.parity", breaks="bound", name="strict", latex=r"S < (w + 1)^D")
def fewer_sign_changes_than_pieces() -> tuple[Check, ...]:
    """S sign changes need S + 1 pieces."""
    return pieces_checks(zeros_per_piece=0)
