"""Post-LayerNorm targets and fixed models for worlds and instances; all runs on them are exact.

Source: Fixed Universal Transformers, Section 3.3; the targets are ours.
"""

from __future__ import annotations

import random
from fractions import Fraction
from functools import lru_cache

from constructions.universal import tree
from constructions.universal.definitions import TransformerSize
from constructions.universal.instances import random_matrix, random_target, seeded
from lowerbounds.layer_norm import Head, LayerNorm, PostNorm, Row, heads_of, plain_norm
from verify.rational import Matrix

ZERO_EPS = Fraction(1, 4)
"""A rational square: rows of zeros have the divisor 1/2."""
SMALL_EPS = Fraction(1, 100_000)
"""Common in practice; the bound on normalised coordinates is nearly attained."""


def _norms(source: random.Random, layers: int, last: Row, eps: Fraction) -> tuple[LayerNorm, ...]:
    """Random scales; shift 0 before the last layer, which has the given one."""
    width = len(last)
    return tuple(
        LayerNorm(
            scale=tuple([Fraction(source.randint(1, 5), 2) for _ in last]),
            shift=last if layer == layers - 1 else (Fraction(0),) * width,
            eps=eps,
        )
        for layer in range(layers)
    )


def shifted_target(
    size: TransformerSize, *, residual: bool, shift: Row, seed: int, eps: Fraction = ZERO_EPS
) -> PostNorm:
    """A target with random weights and scales whose last layer has the given shift."""
    return PostNorm(
        layers=heads_of(random_target(size, seed)),
        norms=_norms(seeded(seed), size.layers, shift, eps),
        residual=residual,
        readout=Matrix.identity(size.token_width),
    )


@lru_cache(maxsize=16)
def universal_model(size: TransformerSize, *, residual: bool, seed: int) -> PostNorm:
    """The tree's fixed parameters with LayerNorm after each layer, its last shift random."""
    model, source = tree.LAYOUT.build(size, size.probe_width), seeded(seed)
    shift = tuple([Fraction(source.randint(-3, 3), 2) for _ in range(model.width)])
    return PostNorm(
        layers=heads_of(model),
        norms=_norms(source, size.layers, shift, ZERO_EPS),
        residual=residual,
        readout=model.readout.dense(),
    )


@lru_cache(maxsize=16)
def random_model(width: int, outputs: int, seed: int) -> PostNorm:
    """A fixed model of one layer with two random heads; seed 0 passes its stream on as it is."""
    source = seeded(seed)
    heads = tuple(
        Head(
            query=random_matrix(source, width, 2),
            key=random_matrix(source, width, 2),
            mix=random_matrix(source, width, width).scaled(min(seed, 1)),
        )
        for _ in range(2)
    )
    shift = tuple([Fraction(source.randint(-3, 3), 2) for _ in range(width)])
    return PostNorm(
        layers=(heads,),
        norms=_norms(source, 1, shift, SMALL_EPS),
        residual=seed % 2 == 0,
        readout=random_matrix(source, width, outputs),
    )


def reversing_model(norm: LayerNorm, readout: Matrix) -> PostNorm:
    """A fixed model of one layer whose one head reverses the coordinates."""
    width = norm.width
    blank = Matrix.zero(width, 1)
    turned = Matrix.identity(width).select_columns(range(width - 1, -1, -1))
    return PostNorm(
        layers=((Head(query=blank, key=blank, mix=turned),),),
        norms=(norm,),
        residual=False,
        readout=readout,
    )


def passing_model(eps: Fraction) -> PostNorm:
    """A fixed model of width 2 and one layer that normalises its stream as it is."""
    blank = Head(query=Matrix.zero(2, 1), key=Matrix.zero(2, 1), mix=Matrix.zero(2, 2))
    norm = LayerNorm(
        scale=(Fraction(2), Fraction(-1)), shift=(Fraction(1, 2), Fraction(3)), eps=eps
    )
    return PostNorm(
        layers=((blank,),), norms=(norm,), residual=True, readout=Matrix(2, 2, [1, 2, -1, 0])
    )


def large_target(size: TransformerSize, *, residual: bool, scale: Fraction) -> PostNorm:
    """A target that passes x = (1, 0, .., 0) on and scales it in the last layer.

    Its first head has M^l = w_l e_1 e_1^T, or 0 with residual; all other M are 0. eps and w_l are
    such that every divisor is 1: w_1 = 1, and then w_l = d_in / (d_in - 1) brings the first
    coordinate back to 1.
    """
    width = size.token_width
    eps = 1 - Fraction(width - 1, width * width)
    blank, tall = Matrix.zero(width, width), Matrix.zero(width, size.head_width)
    corner = Matrix.with_ones(width, width, [0], [0])
    back = Fraction(width, max(width - 1, 1))  # at width 1 the stream is 0, whatever w_l is

    def mix(layer: int, head: int) -> Matrix:
        return blank if residual or head else corner.scaled(back if layer else 1)

    last = LayerNorm(scale=(scale,) * width, shift=(Fraction(0),) * width, eps=eps)
    return PostNorm(
        layers=tuple(
            tuple(Head(query=tall, key=tall, mix=mix(layer, h)) for h in range(size.heads))
            for layer in range(size.layers)
        ),
        norms=(*[plain_norm(width, eps)] * (size.layers - 1), last),
        residual=residual,
        readout=Matrix.identity(width),
    )


def output_limits(model: PostNorm, room: Fraction) -> list[Fraction]:
    """sum_j (|gamma_j| B + |beta_j|) |U_jc| for each c, where B is `room`."""
    norm = model.norms[-1]
    sizes = [abs(s) * room + abs(b) for s, b in zip(norm.scale, norm.shift, strict=True)]
    return [
        sum((size * abs(u) for size, u in zip(sizes, column, strict=True)), Fraction(0))
        for column in model.readout.transposed.rows()
    ]
