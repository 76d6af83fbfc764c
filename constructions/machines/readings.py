"""How the code reads words and contexts, and what the symbols of their theory mean there.

A word is a tuple of symbols, a context a tuple of tokens; `Reading` holds the functions of
`definitions` that the theory is about.

Source: Sliding-Window Transformers Without Positional Encodings, Sections 3 and 5.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from constructions.machines import definitions
from constructions.machines.definitions import Token, Word, parity_mask, parity_vector
from constructions.machines.window import Normal, Pending, WindowLabel, WindowToken
from verify.claims import Check, Profile, supports
from verify.counterexamples import Counterexample
from verify.methods.exhaustive import Exhaustive
from verify.ranges import Range
from verify.smtlib import World
from verify.verdicts import Json

Context = tuple[WindowToken[Any], ...]
Meaning = (
    Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | object
)
"""What a symbol of a theory means: a function of the code or a value."""

MARKER = "#"
ALPHABET = ("a", "b")


def words_up_to(alphabet: Sequence[str], length: int) -> Iterator[Word]:
    """All words of at most this length, the shortest first."""
    for size in range(length + 1):
        yield from itertools.product(alphabet, repeat=size)


def contexts_up_to(tokens: Sequence[WindowToken[str]], length: int) -> Iterator[Context]:
    """All contexts of at most this length, the shortest first."""
    for size in range(length + 1):
        yield from itertools.product(tokens, repeat=size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How the code reads words and contexts; a mutant puts a wrong function in."""

    sem: Callable[[Context, str], Word] = definitions.sem
    markers: Callable[[Context, str], int] = definitions.markers
    slide: Callable[[Context, WindowToken[str]], Context] = definitions.slide


def _cons(first: Any, rest: tuple[Any, ...]) -> tuple[Any, ...]:
    return (first, *rest)


def _snoc(rest: tuple[Any, ...], last: Any) -> tuple[Any, ...]:
    return (*rest, last)


def _token(displayed: str, label: WindowLabel[Any], update: bool) -> WindowToken[Any]:
    return Token(displayed=displayed, label=label, update=int(update))


def _pending(state: Any, symbol: str) -> WindowLabel[Any]:
    return Pending(state=state, symbol=symbol)


def _normal(state: Any) -> WindowLabel[Any]:
    return Normal(state=state)


def _newest(context: Context) -> WindowLabel[str] | None:
    return context[-1].label if context else None


def _displays(context: Context, symbol: str) -> int:
    return [token.displayed for token in context].count(symbol)


def _same(symbol: str) -> str:
    return symbol


def word_symbols(
    alphabet: Sequence[str] = ALPHABET, marker: str = MARKER, reading: Reading | None = None
) -> dict[str, Meaning]:
    """Meaning of the symbols of WORDS: words are tuples, contexts are tuples of tokens."""
    read = reading or Reading()
    bits = {symbol: 1 << place for place, symbol in enumerate(alphabet)}
    return {
        "wnil": (),
        "wcons": _cons,
        "whead": lambda w: w[0] if w else alphabet[0],
        "wtail": lambda w: w[1:],
        "wsnoc": _snoc,
        "wlen": len,
        "wcount": lambda w, y: w.count(y),
        "odd": lambda w, y: bool(parity_mask(alphabet, w) & bits[y]),
        "mark": marker,
        "sym": _same,
        "symof": _same,
        "is-mark": lambda d: d == marker,
        "N": _normal,
        "P": _pending,
        "is-N": lambda r: isinstance(r, Normal),
        "is-P": lambda r: isinstance(r, Pending),
        "nq": lambda r: r.state,
        "pq": lambda r: r.state,
        "ps": lambda r: r.symbol,
        "tok": _token,
        "disp": lambda t: t.displayed,
        "lab": lambda t: t.label,
        "bit": lambda t: t.update == 1,
        "cnil": (),
        "ccons": _cons,
        "chead": lambda c: c[0],
        "ctail": lambda c: c[1:],
        "csnoc": _snoc,
        "clen": len,
        "ccount": _displays,
        "marks": lambda c: read.markers(c, marker),
        "sem": lambda c: read.sem(c, marker),
        "newest": _newest,
        "slide": read.slide,
        "mod": lambda a, b: a % b,
    }


def sample_tokens(states: Sequence[str] = ("p", "q")) -> tuple[WindowToken[str], ...]:
    """Tokens with every displayed symbol, both kinds of labels and both update bits."""
    first, second = Normal(state=states[0]), Pending(state=states[-1], symbol=ALPHABET[-1])
    return (
        Token(displayed="a", label=first, update=0),
        Token(displayed="b", label=second, update=1),
        Token(displayed="b", label=first, update=0),
        Token(displayed=MARKER, label=first, update=0),
        Token(displayed=MARKER, label=second, update=0),
    )


LONGEST_WORD = 4
"""Length of the longest words on which axioms and goals are evaluated."""


def word_sorts(length: int = 2) -> dict[str, Sequence[Any]]:
    """Members of the sorts of WORDS."""
    tokens = sample_tokens()
    return {
        "Sym": ALPHABET,
        "Q": ("p", "q"),
        "Word": tuple(words_up_to(ALPHABET, LONGEST_WORD)),
        "Disp": (*ALPHABET, MARKER),
        "Tok": tokens,
        "Lab": tuple(dict.fromkeys(token.label for token in tokens)),
        "Ctx": (*contexts_up_to(tokens, length), tokens[:4], (*tokens[1:4], tokens[0])),
    }


def word_worlds(reading: Reading | None = None) -> Iterator[World]:
    """Words of two symbols and contexts of real tokens."""
    sorts = word_sorts()
    yield World(
        sorts=sorts,
        symbols=word_symbols(reading=reading),
        free={"w0": sorts["Word"], "s0": sorts["Sym"], "c0": sorts["Ctx"], "t0": sorts["Tok"]},
    )


# --- instances -------------------------------------------------------------------------------


def displayed_text(context: Iterable[WindowToken[Any]]) -> list[str]:
    """The displayed symbols of a context, as certificates show it."""
    return [token.displayed for token in context]


def reading_fails(reading: Reading) -> Callable[[Context], Counterexample | None]:
    """The obligation that sem, markers and slide are what the definitions say, on one context."""

    def holds(context: Context) -> Counterexample | None:
        shown = displayed_text(context)
        for name, came, required in _readings(reading, context):
            if came != required:
                return Counterexample(
                    text=f"{name} of a context that displays {shown}: {required} is required, "
                    f"{came} came",
                    instance={"displayed": shown},
                )
        return None

    return holds


def _readings(reading: Reading, context: Context) -> Iterator[tuple[str, Any, Any]]:
    """What is read, what the code says, and what the definition says."""
    shown = displayed_text(context)
    word = reading.sem(context, MARKER)
    yield "sem", word, tuple(symbol for symbol in shown if symbol != MARKER)
    yield "markers", reading.markers(context, MARKER), shown.count(MARKER)
    odd = [shown.count(symbol) % 2 for symbol in ALPHABET]
    yield "parity", list(parity_vector(parity_mask(ALPHABET, word), len(ALPHABET))), odd
    for update in (0, 1) if context else ():
        token = Token(displayed="a", label=context[-1].label, update=update)
        required = (*context[1 - update :], token)
        yield f"slide with bit {update}", reading.slide(context, token), required


def reading_exhibit(context: Context) -> Json:
    """Kind `words`: a context's displayed symbols, sem, and the parity of sem."""
    word = definitions.sem(context, MARKER)
    mask = parity_mask(ALPHABET, word)
    return {
        "displayed": displayed_text(context),
        "sem": list(word),
        "parity": {symbol: mask >> place & 1 for place, symbol in enumerate(ALPHABET)},
    }


def plain_contexts(length: int) -> Iterator[Context]:
    """Contexts up to a length that differ in their displayed symbols only."""
    label = _normal("p")
    return contexts_up_to(
        [Token(displayed=symbol, label=label, update=0) for symbol in (*ALPHABET, MARKER)], length
    )


def graded(
    make: Callable[[int], Range], quick: int, standard: int, deep: int
) -> dict[Profile, Range]:
    """One range per profile, made from one number each."""
    return {"quick": make(quick), "standard": make(standard), "deep": make(deep)}


def _reading_range(length: int) -> Range:
    return Range(
        bound=f"contexts of at most {length} tokens over two symbols and the marker",
        over=lambda: plain_contexts(length),
    )


def reading_check(reading: Reading) -> Check:
    """Real contexts against the definitions spelled out."""
    return supports(
        Exhaustive(
            holds=reading_fails(reading),
            ranges=graded(_reading_range, 4, 5, 7),
            rechecked_as="words",
            exhibit=reading_exhibit,
            leans_on=(),
        )
    )
