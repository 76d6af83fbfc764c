"""Two models whose embeddings solve the same equations compute the same outputs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verify.definitions.draws import Whole
from verify.definitions.encodings import (
    PlainModel,
    Sparse,
    applied,
    embedding_of,
    fixed_model,
    require_solved,
    whole_rows,
)
from verify.definitions.models import attention
from verify.definitions.plain import Rows, product, require, total, transposed
from verify.definitions.universal import Sizes, check_fixed_parameters


@dataclass(frozen=True)
class Embedded:
    """An attention-only universal model, and E as whole numbers over one."""

    sizes: Sizes
    model: PlainModel
    rows: Whole
    over: int

    @classmethod
    def of(cls, exhibit: Any) -> Embedded:
        """The model of a certificate; a trained readout is whole numbers over a power of 2."""
        fixed, readout = exhibit["fixed"], exhibit["readout"]
        sizes = Sizes.of(fixed["size"])
        require(not sizes.neurons and not sizes.residual, "the model is not attention-only")
        model = fixed_model(sizes, fixed)
        if "draw" not in fixed:
            check_fixed_parameters(fixed)
        if readout is not None:
            entries, over = whole_rows(readout)
            require("draw" not in fixed, "a drawn model has a readout of its own")
            require(over & (over - 1) == 0, "a trained readout is not over a power of 2")
            shapes = {len(row) for row in entries}
            require(len(entries) == model.width and shapes == {sizes.token_width}, "another shape")
            columns: list[Sparse] = [
                (1, dict(enumerate(column))) for column in zip(*entries, strict=True)
            ]
            model = PlainModel(model.width, 1 - over.bit_length(), columns, model.layers)
        return cls(sizes, model, *embedding_of(sizes, model, exhibit))

    def probes(self) -> list[Sparse]:
        """The columns of P_0."""
        current = self.model.readout
        for readers, values, _ in reversed(self.model.layers):
            moved = [applied(value, column) for value in values for column in current]
            current = [*itertools.chain.from_iterable(readers), *moved]
        return current

    def read(self, stream: Rows, columns: list[Sparse]) -> Rows:
        """A stream times a matrix."""
        scales = [Fraction(2) ** (self.model.exponent * factors) for factors, _ in columns]
        return [
            [
                sum((row[index] * entry for index, entry in entries.items()), Fraction(0)) * scale
                for (_, entries), scale in zip(columns, scales, strict=True)
            ]
            for row in stream
        ]

    def embedded(self, tokens: list[int]) -> Rows:
        """The rows of E of a string's tokens."""
        return [[Fraction(entry, self.over) for entry in self.rows[token]] for token in tokens]

    def output(self, tokens: list[int]) -> Rows:
        """Logits at every place of a string, a causal mask over scrambled shares."""
        mask = [[j <= i for j in range(len(tokens))] for i in range(len(tokens))]
        stream = self.embedded(tokens)
        for readers, values, _ in self.model.layers:
            read = [self.read(stream, reader) for reader in readers]
            logits = [
                product(query, transposed(key))
                for query, key in zip(read[::2], read[1::2], strict=True)
            ]
            stream = total(
                [
                    product(attention("scrambled", scores, mask), self.read(stream, value))
                    for scores, value in zip(logits, values, strict=True)
                ]
            )
        return self.read(stream, self.model.readout)


def both_models(exhibit: Any) -> tuple[Embedded, Embedded]:
    """The trained model and the re-encoded one, whose readout is not trained."""
    source, ours = Embedded.of(exhibit["source"]), Embedded.of(exhibit["reencoded"])
    require(exhibit["reencoded"]["readout"] is None, "the re-encoded model's readout is not fixed")
    require(source.sizes == ours.sizes, "the models have different sizes")
    return source, ours


def check_reencoding(exhibit: Any) -> None:
    """E' P'_0 = E P_0, and P'_0 is that of a draw or selects distinct coordinates."""
    source, ours = both_models(exhibit)
    every = source.embedded(list(range(source.sizes.token_width)))
    content = transposed(source.read(every, source.probes()))
    require_solved(ours.sizes, ours.model, (ours.rows, ours.over), ours.probes(), content)


def check_reencoded_runs(exhibit: Any) -> None:
    """Both models give the same logits on every string, in fractions."""
    source, ours = both_models(exhibit)
    require(exhibit["strings"], "no string is run")
    for tokens in exhibit["strings"]:
        require(source.output(tokens) == ours.output(tokens), f"the logits differ on {tokens}")
