"""The meaning of the linear argument's theory: constructions that serve targets, with H = L = 2.

Paths and their beginnings are words over the heads, targets and words of choices are words over
the choices; path vectors are unit vectors. Families are drawn z, some of them 0 below a beginning.

Source: Fixed Universal Transformers, Section 4 and Theorem 4.1.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

from constructions.universal.instances import random_matrix, seeded
from lowerbounds.kernel_models import (
    Column,
    PathModel,
    Reading,
    Readout,
    Weights,
    by_path,
    null_vector,
)
from lowerbounds.shared_attention import weight_tensor
from verify.rational import Matrix
from verify.smtlib import Symbol, World

Word = tuple[int, ...]
Family = tuple[Column, ...]
"""z_p for each path in lexical order."""

HEADS = 2
LAYERS = 2


def _words(most: int) -> list[Word]:
    """Words over two letters, the shortest first."""
    lengths = range(most + 1)
    return [word for n in lengths for word in itertools.product(range(HEADS), repeat=n)]


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """One model and some families, by number, with the weights of the choices and their numbers."""

    readout: Readout
    token_width: int
    model: PathModel
    weights: Weights
    points: Column
    families: tuple[Family, ...]

    def target_weights(self, target: Word) -> Weights:
        """The weights of each layer."""
        return tuple(self.weights[choice] for choice in target)

    @cached_property
    def sent(self) -> list[tuple[Word, Matrix]]:
        """Each path with its product R_p."""
        paths = itertools.product(range(HEADS), repeat=LAYERS)
        return list(zip(paths, self.model.products, strict=True))

    @cached_property
    def readings(self) -> dict[Word, Reading]:
        """How each target reads a sum."""
        sizes = HEADS, LAYERS, self.token_width
        return {
            target: self.readout.serve(*sizes, self.target_weights(target))
            for target in itertools.product(range(HEADS), repeat=LAYERS)
        }

    def over(self, family: int, keeps: Callable[[Word], bool]) -> Matrix:
        """The sum over the paths that a test keeps."""
        kept = tuple(
            part if keeps(path) else (Fraction(0),) * self.token_width
            for part, (path, _) in zip(self.families[family], self.sent, strict=True)
        )
        return self.readout.sum(self.model, kept)

    def part(self, family: int, path: Word, entry: int) -> Fraction:
        """z_p, one entry; 0 where there is none."""
        exists = len(path) == LAYERS and set(path) <= set(range(HEADS))
        place = int("".join(map(str, path)), HEADS) if exists else -1
        inside = exists and 0 <= entry < self.token_width
        return self.families[family][place][entry] if inside else Fraction(0)

    def weight(self, choice: int, head: int) -> Fraction:
        """w(y, h); 0 outside the choices and heads."""
        inside = 0 <= choice < HEADS and 0 <= head < HEADS
        return self.weights[choice][head] if inside else Fraction(0)

    def value(self, family: int, path: Word, later: Word, entry: int) -> Fraction:
        """The weighted sum over the ways to go on from a beginning."""
        if not later:
            return self.part(family, path, entry)
        return self.upto(family, path, later[0], later[1:], HEADS, entry)

    def upto(
        self, family: int, path: Word, choice: int, later: Word, count: int, entry: int
    ) -> Fraction:
        """The same over the first so many heads."""
        summands = (
            self.weight(choice, head) * self.value(family, (*path, head), later, entry)
            for head in range(count)
        )
        return sum(summands, Fraction(0))

    def response(self, target: Word, path: Word, row: int, place: int) -> Fraction:
        """An entry of what the target reads of a unit sent along one path."""
        if len(path) != LAYERS or not 0 <= row < self.token_width > place >= 0:
            return Fraction(0)
        unit = Matrix.identity(self.token_width).rows()[place]
        product = dict(self.sent)[path]
        return self.readings[target](self.readout.send(product, self.model.readout, unit))[row]

    def read(self, target: Word, total: Matrix, entry: int) -> Fraction:
        """An entry of what the target reads of a sum; 0 where there is none."""
        inside = 0 <= entry < self.token_width
        return self.readings[target](total)[entry] if inside else Fraction(0)

    def along(self, target: Word, path: Word) -> Fraction:
        """The product of the target's weights along a beginning."""
        result = Fraction(1)
        for choice, head in zip(target, path, strict=False):
            result *= self.weight(choice, head)
        return result

    def combine(self, target: Word) -> Matrix:
        """sum_p of unit vectors e_p times how far response and weights are apart."""
        unit = Matrix.identity(self.token_width)
        wanted = weight_tensor(self.target_weights(target))
        found = [
            self.readings[target](self.readout.send(product, self.model.readout, part))
            for _, product in self.sent
            for part in unit.rows()
        ]
        return Matrix.from_rows(found) - Matrix.stack([unit.scaled(along) for along in wanted])


def whole_world(readout: Readout, token_width: int, weights: Weights, points: Column) -> World:
    """The whole construction, which serves every target; no combination but 0 vanishes."""
    drawn = random_matrix(seeded(2), HEADS**LAYERS, token_width).rows()
    none = (Fraction(0),) * token_width
    meaning = Meaning(
        readout=readout,
        token_width=token_width,
        model=readout.construct(HEADS, LAYERS, token_width, _least_width(readout, token_width)),
        weights=weights,
        points=points,
        families=(drawn, (*(none,) * HEADS, *drawn[HEADS:]), (none,) * len(drawn)),
    )
    return _world_of(meaning)


def narrow_world(readout: Readout, token_width: int, weights: Weights, points: Column) -> World:
    """One coordinate less: a combination that is not 0 vanishes."""
    width = _least_width(readout, token_width) - 1
    model = readout.construct(HEADS, LAYERS, token_width, width)
    meaning = Meaning(
        readout=readout,
        token_width=token_width,
        model=model,
        weights=weights,
        points=points,
        families=(by_path(null_vector(readout.system(model)), token_width),),
    )
    return _world_of(meaning)


def _least_width(readout: Readout, token_width: int) -> int:
    """The least m that gives as many equations as there are unknowns."""
    needed = readout.unknowns(HEADS, LAYERS, token_width)
    return next(m for m in itertools.count(1) if readout.equations(m) >= needed)


def _world_of(meaning: Meaning) -> World:
    """All symbols of the theory for one model and its families."""
    words = _words(LAYERS)
    families = range(len(meaning.families))
    targets = [word for word in words if len(word) == LAYERS]
    streams = [meaning.over(family, lambda path: path[0] == 0) for family in families[:2]]
    return World(
        sorts={
            "Path": words,
            "Target": targets,
            "Choices": words,
            "Stream": [*streams, streams[0].scaled(0)],
            "Family": families,
        },
        integers=range(-1, HEADS + 1),
        symbols={**_sizes(meaning), **_sums(meaning), **_choices(meaning)},
        free={
            "f": families,
            "t": targets[:2],
            "p": words,
            "r": words[: HEADS + 1],
            "y": range(HEADS),
            "i": range(meaning.token_width),
            "j": range(HEADS),
        },
    )


def _sizes(meaning: Meaning) -> dict[str, Symbol]:
    return {
        "H": HEADS,
        "L": LAYERS,
        "din": meaning.token_width,
        "m": meaning.model.width,
        "count": lambda length: HEADS**length,
        "root": (),
        "child": lambda path, head: (*path, head),
        "depth": len,
    }


def _sums(meaning: Meaning) -> dict[str, Symbol]:
    return {
        "z": meaning.part,
        "send": lambda f, p: meaning.over(f, lambda path: path == p),
        "sub": lambda f, p: meaning.over(f, lambda path: path[: len(p)] == p),
        "first": lambda f, p, count: meaning.over(
            f, lambda path: path[: len(p)] == p and len(p) < LAYERS and path[len(p)] < count
        ),
        "nil": meaning.over(0, lambda path: path == ()),
        "plus": lambda a, b: a + b,
        "read": meaning.read,
        "response": meaning.response,
        "along": meaning.along,
        "combine": meaning.combine,
        "zero": Matrix.zero(len(meaning.sent) * meaning.token_width, meaning.token_width),
    }


def _choices(meaning: Meaning) -> dict[str, Symbol]:
    return {
        "w": meaning.weight,
        "x": lambda a: dict(enumerate(meaning.points)).get(a, Fraction(0)),
        "power": lambda base, exponent: base**exponent if exponent >= 0 else Fraction(0),
        "point": lambda t, place: t[place] if 0 <= place < LAYERS else 0,
        "rest": lambda t, place: t[max(place, 0) :],
        "done": (),
        "more": lambda a, s: (a, *s),
        "size": len,
        "valid": lambda s: set(s) <= set(range(HEADS)),
        "value": cache(meaning.value),
        "upto": cache(meaning.upto),
    }
