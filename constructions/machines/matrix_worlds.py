"""The matrices of the code as meaning of the theories of attention and decoding.

Source: Sliding-Window Transformers Without Positional Encodings, Section 5 and Appendix A.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from constructions.machines.contexts import Exact, exact, hist_machine_number, next_of
from constructions.machines.matrices import MatrixTransformer, Vocabulary, labels_met
from constructions.machines.readings import Context, word_symbols
from constructions.machines.window import Normal, SlidingWindowRun, WindowLabel, window_transformer
from verify.smtlib import World


def _sample(make: Exact) -> tuple[MatrixTransformer[str], tuple[Context, ...]]:
    """A family machine in matrices, and contexts of its run."""
    transformer = window_transformer(hist_machine_number(3))
    met = labels_met(transformer, "ab", 4)
    label: WindowLabel[str] = Normal(state="halt")
    vocabulary = Vocabulary(
        displayed=transformer.displayed, labels=tuple(dict.fromkeys((*met, label)))
    )
    run = SlidingWindowRun(transformer, "ab")
    contexts: list[Context] = []
    for _ in range(3):
        contexts += [tuple(run.context), tuple(run.context)[:2]]
        run.step()
    return make(transformer, vocabulary), tuple(dict.fromkeys(contexts))


def _sums(rows: Any, vector: Any) -> list[list[Fraction]]:
    """Partial sums of every row of a matrix with a vector."""
    table: list[list[Fraction]] = []
    for row in rows:
        sums = [Fraction(0)]
        for left, right in zip(row, vector, strict=True):
            sums.append(sums[-1] + left * right)
        table.append(sums)
    return table


def attention_worlds(make: Exact = exact) -> Iterator[World]:
    """A family machine's matrices on the contexts of a run."""
    model, contexts = _sample(make)
    transformer, vocabulary = model.transformer, model.vocabulary
    tokens = tuple(dict.fromkeys(token for context in contexts for token in context))
    embedded = {token: vocabulary.embed(token) for token in tokens}
    queries = {token: _sums(vocabulary.zero_matrix(), embedded[token]) for token in tokens}
    values = {token: _sums(vocabulary.value_matrix(), embedded[token]) for token in tokens}
    middles = {context: model.attend(context) for context in contexts}
    query_matrix, value_matrix = vocabulary.zero_matrix(), vocabulary.value_matrix()
    width, size = vocabulary.width, len(vocabulary.displayed)
    whole = {token: [sums[width] for sums in queries[token]] for token in tokens}
    logits = {
        (a, b): _sums([whole[a]], whole[b])[0] for a in tokens for b in tokens
    }

    def mixed(context: Context, part: Context, token: Any, coordinate: int) -> Fraction:
        del token
        shares = [values[t][coordinate][width] for t in part]
        return sum(shares, Fraction(0)) / len(context)

    def exponential(logit: Fraction) -> Fraction:
        return {Fraction(0): Fraction(1)}[Fraction(logit)]

    yield World(
        sorts={
            "Tok": tokens,
            "Ctx": contexts,
            "Disp": transformer.displayed,
            "Real": (Fraction(0),),
        },
        integers=range(width),
        symbols={
            **word_symbols(transformer.machine.alphabet, transformer.marker),
            "width": width,
            "n": size,
            "entry": lambda v, j: embedded[v][j],
            "place": transformer.displayed.index,
            "Qm": lambda i, j: query_matrix[i][j],
            "Vm": lambda i, j: value_matrix[i][j],
            "qsum": lambda i, v, j: queries[v][i][j],
            "vsum": lambda i, v, j: values[v][i][j],
            "lsum": lambda a, b, j: logits[a, b][j],
            "logit": lambda a, b: logits[a, b][width],
            "e": exponential,
            "mass": lambda c, v: sum((exponential(logits[v, t][width]) for t in c), Fraction(0)),
            "weight": lambda c, a, b: Fraction(1, len(c)),
            "size": lambda c: Fraction(len(c)),
            "cnt": lambda c, b: Fraction([t.displayed for t in c].count(b)),
            "mix": mixed,
            "mid": lambda c, i: middles[c][i],
            "last": lambda c: c[-1],
        },
        free={
            "k": range(0, width, 2),
            "u": tuple(dict.fromkeys(context[-1] for context in contexts[:2])),
            "d": transformer.displayed,
            "x": contexts[:2],
            "c0": ((), *(context[1:] for context in contexts[:2])),
            "t0": tuple(dict.fromkeys(context[0] for context in contexts[:2])),
        },
    )


def _score(model: MatrixTransformer[str], token: Any, final: tuple[Fraction, ...]) -> list[Fraction]:
    return _sums([model.vocabulary.embed(token)], final)[0]


def decoding_worlds(make: Exact = exact) -> Iterator[World]:
    """The same machine's embeddings, MLP and scores."""
    model, contexts = _sample(make)
    transformer, vocabulary = model.transformer, model.vocabulary
    size, label_count, width = len(vocabulary.displayed), len(vocabulary.labels), vocabulary.width
    following = {context: next_of(transformer, context) for context in contexts}
    chosen = {c: token for c, token in following.items() if token.label in vocabulary.labels}
    contexts = tuple(chosen)
    tokens = tuple(dict.fromkeys([*chosen.values(), *vocabulary.tokens[::5]]))
    middles = {context: model.attend(context) for context in contexts}
    changes = {context: model.feed_forward(middles[context]) for context in contexts}
    finals = {
        context: tuple(f + h for f, h in zip(changes[context], middles[context], strict=True))
        for context in contexts
    }
    embedded = {token: vocabulary.embed(token) for token in tokens}
    scores = {
        (token, context): _score(model, token, finals[context])
        for token, context in itertools.product(tokens, contexts)
    }
    yield World(
        sorts={"Tok": tokens, "Ctx": contexts},
        integers=range(width + 1),
        symbols={
            **word_symbols(transformer.machine.alphabet, transformer.marker),
            "width": width,
            "n": size,
            "r": label_count,
            "place": lambda v: vocabulary.displayed.index(v.displayed),
            "row": lambda v: vocabulary.labels.index(v.label),
            "update": lambda v: v.update,
            "emb": lambda v, j: embedded[v][j],
            "mid": lambda c, j: middles[c][j],
            "mlp": lambda c, j: changes[c][j],
            "h1": lambda c, j: finals[c][j],
            "score": lambda v, c, j: scores[v, c][j],
            "G": lambda c: chosen[c],
        },
        free={"k": range(width), "C": contexts, "v0": tokens},
    )
