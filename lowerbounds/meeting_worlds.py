"""Models that meet in the middle as the meaning of the theory of meeting.

Source: Fixed Universal Transformers, Section 4; the construction is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from math import prod

from lowerbounds.meeting_models import (
    MEETING,
    Meeting,
    Polynomial,
    Rules,
    Weights,
    Word,
    coefficient,
    drawn_weights,
    multiplied,
)
from verify.rational import Matrix
from verify.smtlib import Symbol, World

Terms = tuple[Fraction, ...]

SIZES = ((2, 3), (2, 4), (3, 1))


def meeting_worlds(rules: Rules = MEETING) -> Iterator[World]:
    """Small models for odd and even L, with drawn weights."""
    for heads, layers in SIZES:
        model = Meeting(heads=heads, layers=layers, rules=rules)
        yield _world(model)


def _target(model: Meeting) -> tuple[Weights, Polynomial, Polynomial]:
    """Weights, f and g; for odd L the middle weights are the coefficients of f g."""
    weights, one = drawn_weights(model.heads, model.layers, 1), (Fraction(1),)
    if not model.odd:
        return weights, one, one
    f, g = (
        tuple(Fraction(2 * power - 3, power + 2) for power in range(degree + 1))
        for degree in model.degrees
    )
    product = multiplied((f, g))
    middle = tuple(coefficient(product, head) for head in range(model.heads))
    return (*weights[: model.half], middle, *weights[model.half + 1 :]), f, g


def _world(model: Meeting) -> World:
    weights, f, g = _target(model)
    row, readout = model.embedding(weights, f), model.readout(weights, g)
    words = list(dict.fromkeys(word for word, _ in model.coordinates))
    entries, places = row.rows()[0], range(model.width)
    return World(
        sorts={
            "Word": words,
            "Vec": [row, readout.transposed],
            "Mat": [model.middle(0)],
            "Terms": [entries, (Fraction(0), *entries[1:])],
        },
        integers=range(-1, model.width + 1),
        symbols={
            "E": row,
            "U": readout.transposed,
            **_sum_symbols(model),
            **_coordinate_symbols(model),
            **_path_symbols(model, weights, row, readout),
            **_factor_symbols(f, g),
        },
        free={
            "F": [entries, *_single_terms(model.width)],
            "X": [row],
            "P": words[:2],
            "Q": words[-2:],
            "a": places,
            "e": range(model.last + 2),
            "n": range(3),
            "l": range(model.half),
            "h": range(model.heads),
            "c": places,
        },
    )


def _factor_symbols(f: Polynomial, g: Polynomial) -> dict[str, Symbol]:
    return {
        "f": lambda power: coefficient(f, power),
        "g": lambda power: coefficient(g, power),
        "conv": lambda power, count: sum(
            (coefficient(f, power - j) * coefficient(g, j) for j in range(count)), Fraction(0)
        ),
    }


def _single_terms(width: int) -> list[Terms]:
    """Terms with one block that is not zero."""
    return [
        tuple(Fraction(int(first <= place <= first + 1)) for place in range(width))
        for first in range(width - 1)
    ]


def _sum_symbols(model: Meeting) -> dict[str, Symbol]:
    inside = range(model.width)

    def pick(terms: Terms, place: int) -> Fraction:
        return terms[place] if place in inside else Fraction(0)

    def column(row: Matrix, matrix: Matrix, place: int) -> Terms:
        if place not in inside:
            return (Fraction(0),) * model.width
        return tuple(row[0, r] * matrix[r, place] for r in inside)

    return {
        "pick": pick,
        "block": lambda terms, start, count: sum(
            (pick(terms, start + j) for j in range(count)), Fraction(0)
        ),
        "at": lambda row, place: row[0, place] if place in inside else Fraction(0),
        "entry": lambda matrix, r, b: matrix[r, b],
        "times": lambda row, matrix: row @ matrix,
        "column": column,
        "along": lambda x, y: x.hadamard(y).rows()[0],
    }


def _coordinate_symbols(model: Meeting) -> dict[str, Symbol]:
    coordinates, none = model.coordinates, Matrix.zero(model.width, model.width)
    places = {coordinate: place for place, coordinate in enumerate(coordinates)}

    def digit(word: Word, place: int) -> int:
        return word[place] if 0 <= place < model.half else -1

    def mask(place: int, head: int) -> Matrix:
        return model.mask(place, head) if 0 <= place < model.half else none

    def run(row: Matrix, word: Word, digits: int) -> Matrix:
        for place in range(digits):
            row = row @ mask(place, digit(word, place))
        return row

    def coordinate(place: int) -> tuple[Word, int]:
        return coordinates[place] if 0 <= place < model.width else (coordinates[0][0], -1)

    return {
        "k": model.half,
        "s": model.last,
        "m": model.width,
        "word": lambda b: coordinate(b)[0],
        "place": lambda b: coordinate(b)[1],
        "coord": lambda word, place: places.get((word, place), -1),
        "digit": digit,
        "agree": lambda v, p, digits: v[: max(digits, 0)] == p[: max(digits, 0)],
        "mask": mask,
        "middle": model.middle,
        "run": run,
    }


def _path_symbols(
    model: Meeting, weights: Weights, embedding: Matrix, readout: Matrix
) -> dict[str, Symbol]:
    paths = itertools.product(range(model.heads), repeat=model.layers)
    responses = dict(zip(paths, model.responses(embedding, readout), strict=True))

    def path(p: Word, head: int, q: Word) -> Word:
        return (*p, head, *q) if model.odd else (*p, *q)

    def weight(layer: int, head: int) -> Fraction:
        known = 0 <= layer < model.layers and 0 <= head < model.heads
        return weights[layer][head] if known else Fraction(0)

    def product(word: Word, layers: int, first: int = 0) -> Fraction:
        heads = enumerate(word[: max(layers, 0)], first)
        return prod((weight(layer, head) for layer, head in heads), start=Fraction(1))

    late = model.layers - model.half
    return {
        "L": model.layers,
        "odd": model.odd,
        "gap": int(model.odd),
        "heads": model.heads if model.odd else 1,
        "w": weight,
        "first": product,
        "second": lambda word, digits: product(word, digits, late),
        "value": lambda p, head, q, layers: product(path(p, head, q), layers),
        "output": lambda p, head, q: responses[path(p, head, q)],
    }
