"""Hypothesis strategies of machines and inputs.

Source: Sliding-Window Transformers Without Positional Encodings, Sections 3 and 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from constructions.machines.definitions import Rule, TuringMachine, Word

if TYPE_CHECKING:
    from hypothesis import strategies as st

HALT = "halt"
_STATES = ("p", "q", "r", "s", "t")
_SYMBOLS = ("_", "a", "b")


def turing_cases(
    moves: tuple[int, ...] = (-1, 1, -1, 1, 0), states: int = len(_STATES)
) -> st.SearchStrategy[tuple[TuringMachine, Word]]:
    """Machines of two to `states` running states and two or three symbols, with inputs.

    Rules may be missing; `moves` are drawn from as they are listed.
    """
    from hypothesis import strategies as st

    @st.composite
    def cases(draw: st.DrawFn) -> tuple[TuringMachine, Word]:
        alphabet = _SYMBOLS[: draw(st.integers(2, len(_SYMBOLS)))]
        running = _STATES[: draw(st.integers(2, states))]
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
        machine = TuringMachine(
            name="random",
            blank=alphabet[0],
            alphabet=alphabet,
            states=(*running, HALT),
            start=running[0],
            halting=frozenset({HALT}),
            rules={place: rule for place, rule in zip(places, entries, strict=True) if rule},
        )
        return machine, tuple(draw(st.lists(st.sampled_from(alphabet), max_size=5)))

    return cases()
