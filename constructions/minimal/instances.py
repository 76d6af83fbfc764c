"""Models with random weights, for fuzzing.

Source: ours.
"""

from __future__ import annotations

import numpy as np

from constructions.minimal.definitions import Model, shapes


def random_model(seed: int, context: int = 4, hidden: int = 4, digits: int = 2) -> Model:
    """Weights that are multiples of 2^-digits up to 2, so that ties and near misses happen."""
    source = np.random.default_rng(seed)
    reach = 2 << digits
    return Model(
        tensors={
            name: source.integers(-reach, reach, shape, endpoint=True) / float(1 << digits)
            for name, shape in shapes(context, hidden).items()
        }
    )
