"""Masks, attention normalisers and activations with exact rational values.

The proofs use only that equal logits give equal attention, and equal gates equal activations;
these stand in for softmax and for SiLU or GELU where numbers are to stay rational.

Source: Fixed Universal Transformers, Section 2 and Section 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from verify.rational import Matrix

Normaliser = Callable[[Matrix], Matrix]
"""Attention from logits, both of shape (n, n); any function of the logits, mask included."""
Activation = Callable[[Matrix], Matrix]
"""Gates from what enters them, of one shape; entry by entry here, any function in the proofs."""


def causal_mask(length: int) -> tuple[tuple[bool, ...], ...]:
    """True where token i may attend to token j: j <= i."""
    return tuple(tuple(j <= i for j in range(length)) for i in range(length))


def full_mask(length: int) -> tuple[tuple[bool, ...], ...]:
    """Every token may attend to every token."""
    return ((True,) * length,) * length


def _indicator(mask: Sequence[Sequence[bool]]) -> Matrix:
    return Matrix.from_rows([[int(allowed) for allowed in row] for row in mask])


def linear_attention(mask: Sequence[Sequence[bool]]) -> Normaliser:
    """A_ij = z_ij / 4 where the mask allows, 0 elsewhere."""
    share = _indicator(mask).scaled(Fraction(1, 4))
    return lambda logits: logits.hadamard(share)


def square_attention(mask: Sequence[Sequence[bool]]) -> Normaliser:
    """A_ij proportional to 1 + z_ij^2 over the allowed j: positive rows of sum 1."""
    allowed = _indicator(mask)

    def normalise(logits: Matrix) -> Matrix:
        masked = logits.hadamard(allowed)
        return (masked.hadamard(masked) + allowed).rows_shared()

    return normalise


def scrambled_attention(mask: Sequence[Sequence[bool]]) -> Normaliser:
    """A_ij proportional to 1 + (p + 3q mod 5), z_ij = p/q: small numbers in every layer.

    As sensitive to a wrong logit as softmax, but the exact numbers do not grow with depth.
    """
    allowed = _indicator(mask)

    def normalise(logits: Matrix) -> Matrix:
        weights = logits.mapped_parts(lambda p, q: 1 + (p + 3 * q) % 5)
        return weights.hadamard(allowed).rows_shared()

    return normalise


NORMALISERS: dict[str, Callable[[Sequence[Sequence[bool]]], Normaliser]] = {
    "scrambled": scrambled_attention,
    "linear": linear_attention,
    "square": square_attention,
}
"""Rational stand-ins for softmax by name, simplest first."""


def relu(gates: Matrix) -> Matrix:
    """max(z, 0), which makes a gated block a ReGLU."""
    return gates.mapped(lambda z: z if z > 0 else Fraction(0))


def softsign(gates: Matrix) -> Matrix:
    """Z / (1 + |z|): smooth but for 0, never linear."""
    return gates.mapped(lambda z: z / (1 + abs(z)))


def scrambled_activation(gates: Matrix) -> Matrix:
    """(p + 3q mod 5) - 2 for z = p/q: sensitive to a wrong gate, but numbers stay small."""
    return gates.mapped_parts(lambda p, q: (p + 3 * q) % 5 - 2)


ACTIVATIONS: dict[str, Activation] = {
    "relu": relu,
    "softsign": softsign,
    "scrambled": scrambled_activation,
}
"""Rational activations by name, simplest first."""
