"""The matrices of the code as meaning of the theories of attention and decoding.

Source: Sliding-Window Transformers Without Positional Encodings, Section 5 and Appendix A.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from constructions.machines.contexts import Exact, exact, hist_machine_number, next_of
from constructions.machines.matrices import MatrixTransformer, Vocabulary, labels_met
from constructions.machines.readings import Context, Meaning, word_symbols
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


def _at(table: Any) -> Callable[[Any, Any], Any]:
    """Reads entry j of a table's vector."""
    return lambda key, j: table[key][j]


def _at_row(table: Any) -> Callable[[Any, Any, Any], Any]:
    """Reads entry j of row i of a table's matrix."""
    return lambda i, key, j: table[key][i][j]


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
    width, size = vocabulary.width, len(vocabulary.displayed)
    whole = {token: [sums[width] for sums in queries[token]] for token in tokens}
    logits = {(a, b): _sums([whole[a]], whole[b])[0] for a in tokens for b in tokens}

    def mixed(context: Context, part: Context, token: Any, coordinate: int) -> Fraction:
        del token
        shares = [values[t][coordinate][width] for t in part]
        return sum(shares, Fraction(0)) / len(context)

    def logit_sum(first: Any, second: Any, j: int) -> Fraction:
        return logits[first, second][j]

    def exponential(logit: Fraction) -> Fraction:
        return {Fraction(0): Fraction(1)}[Fraction(logit)]

    meaning: dict[str, Meaning] = {
        **word_symbols(transformer.machine.alphabet, transformer.marker),
        "width": width,
        "n": size,
        "entry": _at(embedded),
        "place": transformer.displayed.index,
        "Qm": _at(vocabulary.zero_matrix()),
        "Vm": _at(vocabulary.value_matrix()),
        "qsum": _at_row(queries),
        "vsum": _at_row(values),
        "lsum": logit_sum,
        "logit": lambda a, b: logits[a, b][width],
        "e": exponential,
        "mass": lambda c, v: sum((exponential(logits[v, t][width]) for t in c), Fraction(0)),
        "weight": lambda c, a, b: Fraction(1, len(c)),
        "size": lambda c: Fraction(len(c)),
        "cnt": lambda c, b: Fraction([t.displayed for t in c].count(b)),
        "mix": mixed,
        "mid": _at(middles),
        "last": lambda c: c[-1],
    }
    yield World(
        sorts={
            "Tok": tokens,
            "Ctx": contexts,
            "Disp": transformer.displayed,
            "Real": (Fraction(0),),
        },
        integers=range(width),
        symbols=meaning,
        free={
            "k": range(0, width, 2),
            "i0": range(0, width, 4),
            "v0": tokens[:2],
            "u": tuple(dict.fromkeys(context[-1] for context in contexts[:2])),
            "d": transformer.displayed,
            "x": contexts[:2],
            "c0": ((), *(context[1:] for context in contexts[:2])),
            "t0": tuple(dict.fromkeys(context[0] for context in contexts[:2])),
        },
    )


def _score(
    model: MatrixTransformer[str], token: Any, final: tuple[Fraction, ...]
) -> list[Fraction]:
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

    def score(token: Any, context: Context, j: int) -> Fraction:
        return scores[token, context][j]

    meaning: dict[str, Meaning] = {
        **word_symbols(transformer.machine.alphabet, transformer.marker),
        "width": width,
        "n": size,
        "r": label_count,
        "place": lambda v: vocabulary.displayed.index(v.displayed),
        "row": lambda v: vocabulary.labels.index(v.label),
        "update": lambda v: v.update,
        "emb": _at(embedded),
        "mid": _at(middles),
        "mlp": _at(changes),
        "h1": _at(finals),
        "score": score,
        "G": lambda c: chosen[c],
    }
    yield World(
        sorts={"Tok": tokens, "Ctx": contexts},
        integers=range(width + 1),
        symbols=meaning,
        free={"k": range(width), "C": contexts, "v0": tokens},
    )
