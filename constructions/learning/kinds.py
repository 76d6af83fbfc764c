"""What of a universal transformer is fixed, and what stands beside attention.

Source: Fixed Universal Transformers, Sections 5.1 and 5.2.1, Table 2.
"""

from __future__ import annotations

from enum import StrEnum


class Family(StrEnum):
    """What is fixed."""

    sparse = "sparse"
    random = "random"
    trained = "trained"


class Components(StrEnum):
    """The rows of Table 2."""

    attention = "attention-only"
    residual = "residual"
    norm = "residual-norm"
    mlp = "mlp"
    mlp_norm = "mlp-norm"

    @property
    def has_residual(self) -> bool:
        """Whether streams are carried on."""
        return self is not Components.attention

    @property
    def has_norm(self) -> bool:
        """Whether streams are normalised."""
        return self in (Components.norm, Components.mlp_norm)

    @property
    def has_mlp(self) -> bool:
        """Whether blocks have MLPs."""
        return self in (Components.mlp, Components.mlp_norm)
