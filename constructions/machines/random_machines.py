"""Hypothesis strategies of Turing machines, words and inputs.

Source: Sliding-Window Transformers Without Positional Encodings, Sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from constructions.machines.definitions import Rule, TuringMachine, Word
from verify.errors import SizeError

if TYPE_CHECKING:
    from hypothesis import strategies as st

HALT = "halt"
STATES = tuple("pqrstuvwxyz")
"""Names of running states."""
SYMBOLS = ("_", *"abcdefg")
"""The blank, and the other symbols of a tape."""
_STATES = 5


def words(alphabet: Sequence[str], *, longest: int = 5) -> st.SearchStrategy[Word]:
    """Words of at most `longest` symbols; the simplest is empty, the simplest symbol the first."""
    from hypothesis import strategies as st

    return st.lists(st.sampled_from(alphabet), max_size=longest).map(tuple)


def machines(
    *,
    states: tuple[int, int] = (2, _STATES),
    symbols: tuple[int, int] = (2, 3),
    moves: tuple[int, ...] = (-1, 1, -1, 1, 0),
) -> st.SearchStrategy[TuringMachine]:
    """Machines with bounds (least, most) on running states and on symbols, the blank included.

    Rules may be missing, and are in the simplest machine; `moves` are drawn from as they are
    listed, the first the simplest.

    Raises:
        SizeError: more states or symbols than there are names for, or none.
    """
    from hypothesis import strategies as st

    require_bounds("states", states, STATES)
    require_bounds("symbols", symbols, SYMBOLS)

    @st.composite
    def drawn(draw: st.DrawFn) -> TuringMachine:
        alphabet = SYMBOLS[: draw(st.integers(*symbols))]
        running = STATES[: draw(st.integers(*states))]
        rule = st.builds(
            Rule,
            write=st.sampled_from(alphabet),
            move=st.sampled_from(moves),
            next_state=st.sampled_from((*running, *running, HALT)),
        )
        places = [(state, symbol) for state in running for symbol in alphabet]
        entries = draw(
            st.lists(st.none() | rule | rule, min_size=len(places), max_size=len(places))
        )
        return TuringMachine(
            name="random",
            blank=alphabet[0],
            alphabet=alphabet,
            states=(*running, HALT),
            start=running[0],
            halting=frozenset({HALT}),
            rules={place: rule for place, rule in zip(places, entries, strict=True) if rule},
        )

    return drawn()


def require_bounds(what: str, bounds: tuple[int, int], names: Sequence[str]) -> None:
    """Refuse bounds between which there is nothing, or more than there are names for.

    Raises:
        SizeError: they are so.
    """
    if not 1 <= bounds[0] <= bounds[1] <= len(names):
        raise SizeError(
            f"{what} must be bounded by (least, most) with 1 <= least <= most <= {len(names)}, got "
            f"{bounds}"
        )


def turing_cases(
    moves: tuple[int, ...] = (-1, 1, -1, 1, 0), states: int = _STATES
) -> st.SearchStrategy[tuple[TuringMachine, Word]]:
    """Machines of two to `states` running states and two or three symbols, with inputs."""
    from hypothesis import strategies as st

    @st.composite
    def cases(draw: st.DrawFn) -> tuple[TuringMachine, Word]:
        machine = draw(machines(states=(2, states), moves=moves))
        return machine, draw(words(machine.alphabet))

    return cases()
