"""The map of Theorem 9 as exact linear algebra: embeddings, attention, MLP, argmax.

    block       displayed   histogram   label   update bit
    width       N           N           |R|     2              D = 2N + |R| + 2

Query and key matrices are zero, so attention is the mean of what the value matrix copies: the
displayed-symbol histogram. The MLP turns the representation into the embedding of the next token.

Source: Sliding-Window Transformers Without Positional Encodings, Section 5 and Appendix A.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic

from constructions.machines.definitions import MachineError, State, Token, Word
from constructions.machines.window import (
    SlidingWindowRun,
    WindowLabel,
    WindowToken,
    WindowTransformer,
)

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]


def labels_met(
    transformer: WindowTransformer[State], word: Iterable[str], max_tokens: int
) -> tuple[WindowLabel[State], ...]:
    """The labels of a run's first tokens, in the order met; in all there are exponentially many."""
    run = SlidingWindowRun(transformer, word)
    found = dict.fromkeys(token.label for token in run.context)
    while not run.halted and run.tokens < max_tokens:
        found.setdefault(run.step().label)
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary(Generic[State]):
    """Displayed symbols (marker last) and labels: N and |R| of them, 2 N |R| tokens.

        block       displayed   histogram   label   update bit
        width       N           N           |R|     2              D = 2N + |R| + 2

    Source: Section 5, embeddings.
    """

    displayed: Word
    labels: tuple[WindowLabel[State], ...]

    @property
    def width(self) -> int:
        """D, the embedding's dimension."""
        return 2 * len(self.displayed) + len(self.labels) + 2

    @property
    def tokens(self) -> tuple[WindowToken[State], ...]:
        """The whole vocabulary."""
        return tuple(
            Token(displayed=symbol, label=label, update=update)
            for symbol in self.displayed
            for label in self.labels
            for update in (0, 1)
        )

    def embed(self, token: WindowToken[State]) -> Vector:
        """emb(v) = (e_tau, 0, e_r, e_(gamma + 1)), of length D.

        Raises:
            MachineError: a label or symbol outside the vocabulary.
        """
        if token.label not in self.labels or token.displayed not in self.displayed:
            raise MachineError(
                f"Vocabulary.embed: the token must be in the vocabulary, got {token!r}; "
                "collect the labels of a longer run"
            )
        size = len(self.displayed)
        ones = {
            self.displayed.index(token.displayed),
            2 * size + self.labels.index(token.label),
            2 * size + len(self.labels) + token.update,
        }
        return tuple(Fraction(int(place in ones)) for place in range(self.width))

    def zero_matrix(self) -> Matrix:
        """Q and K: all zero, D by D."""
        return ((Fraction(0),) * self.width,) * self.width

    def value_matrix(self) -> Matrix:
        """V: copies the displayed block into the histogram block, D by D, N ones."""
        size = len(self.displayed)
        return tuple(
            tuple(
                Fraction(int(size <= row < 2 * size and column == row - size))
                for column in range(self.width)
            )
            for row in range(self.width)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixTransformer(Generic[State]):
    """One layer, one head, in exact rationals; for small vocabularies.

    Source: Section 5, equations of the attention, MLP and output layers.
    """

    transformer: WindowTransformer[State]
    vocabulary: Vocabulary[State]

    def attend(self, context: Sequence[WindowToken[State]]) -> Vector:
        """h^(1/2) at the newest token, of length D: the histogram block becomes A.

        Raises:
            MachineError: unequal logits, whose softmax is not rational.
        """
        hidden = [self.vocabulary.embed(token) for token in context]
        query = _product(self.vocabulary.zero_matrix(), hidden[-1])
        key, value = self.vocabulary.zero_matrix(), self.vocabulary.value_matrix()
        logits = {_inner(query, _product(key, vector)) for vector in hidden}
        if len(logits) != 1:
            raise MachineError(
                f"MatrixTransformer.attend: logits must be equal, got {len(logits)} values; "
                "use zero query and key matrices"
            )
        share = Fraction(1, len(context))
        values = [_product(value, vector) for vector in hidden]
        mixed = (share * sum(column) for column in zip(*values, strict=True))
        return tuple(a + h for a, h in zip(mixed, hidden[-1], strict=True))

    def counts(self, middle: Vector) -> tuple[int, ...]:
        """Displayed counts as ratios A(sigma) / A(#), marker last; all zero without a marker.

        Raises:
            MachineError: a ratio that is no integer.
        """
        size = len(self.vocabulary.displayed)
        masses = middle[size : 2 * size]
        if not masses[-1]:
            return (0,) * size
        ratios = [mass / masses[-1] for mass in masses]
        if any(ratio.denominator != 1 for ratio in ratios):
            raise MachineError(
                "MatrixTransformer.counts: ratios to the marker's share must be integers, got "
                f"{', '.join(map(str, ratios))}; the context must have one marker"
            )
        return tuple(int(ratio) for ratio in ratios)

    def feed_forward(self, middle: Vector) -> Vector:
        """The MLP as the paper posits it: emb(G(h)) - h."""
        size = len(self.vocabulary.displayed)
        block = middle[2 * size : 2 * size + len(self.vocabulary.labels)]
        label = self.vocabulary.labels[block.index(Fraction(1))]
        token = self.transformer.next_token(label, self.counts(middle))
        target = self.vocabulary.embed(token)
        return tuple(t - h for t, h in zip(target, middle, strict=True))

    def next_token(self, context: Sequence[WindowToken[State]]) -> WindowToken[State]:
        """The next token by attention, MLP and the argmax over the whole vocabulary.

        Raises:
            MachineError: two tokens share the highest score.
        """
        middle = self.attend(context)
        final = tuple(f + h for f, h in zip(self.feed_forward(middle), middle, strict=True))
        scores = [(_inner(self.vocabulary.embed(v), final), v) for v in self.vocabulary.tokens]
        highest = max(score for score, _ in scores)
        best = [token for score, token in scores if score == highest]
        if len(best) != 1:
            raise MachineError(
                f"MatrixTransformer.next_token: one token must score highest, got {len(best)}; "
                "the MLP's output is not an embedding"
            )
        return best[0]


def _inner(left: Vector, right: Vector) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True) if a and b), Fraction(0))


def _product(matrix: Matrix, vector: Vector) -> Vector:
    support = [place for place, entry in enumerate(vector) if entry]
    return tuple(
        sum((row[place] * vector[place] for place in support), Fraction(0)) for row in matrix
    )
