"""The trained sparse models that claims speak of; each file says how it was made.

    dyck-small     balancing at H = 2, L = 2, d = 2 (m = 40): small enough for an exact random draw
    dyck-sparse    balancing at the sizes of Table 5 (m = 1,024)

`certiformer train dyck` with the options of the file's plan makes them anew.

Source: Fixed Universal Transformers, Section 5.1 and Table 5.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from constructions.learning.files import Trained, read_model

FOLDER = Path(__file__).parent / "checkpoints"
NAMES = ("dyck-small", "dyck-sparse")


@cache
def shipped(name: str) -> Trained:
    """The trained model of a name in NAMES."""
    return read_model(FOLDER / f"{name}.safetensors")
