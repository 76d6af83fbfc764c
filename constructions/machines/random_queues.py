"""Hypothesis strategies of queue machines.

Source: Sliding-Window Transformers Without Positional Encodings, Section 3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from constructions.machines.definitions import QueueMachine
from constructions.machines.formats.machine_file import QueueTable
from constructions.machines.random_machines import HALT, STATES, SYMBOLS, require_bounds

if TYPE_CHECKING:
    from hypothesis import strategies as st

FRONT = ">"
_ALPHABET = (FRONT, *SYMBOLS)


def queue_tables(
    *, states: tuple[int, int] = (2, 4), symbols: tuple[int, int] = (2, 4)
) -> st.SearchStrategy[QueueTable]:
    """Tables with bounds (least, most) on running states, and on symbols, front and blank included.

    Every running state has a rule for each symbol; in the simplest table all keep the first state
    and append the front symbol.

    Raises:
        SizeError: more states or symbols than there are names for, no state, or one symbol.
    """
    from hypothesis import strategies as st

    require_bounds("states", states, STATES)
    require_bounds("symbols but the front", (symbols[0] - 1, symbols[1] - 1), SYMBOLS)

    @st.composite
    def drawn(draw: st.DrawFn) -> QueueTable:
        alphabet = _ALPHABET[: draw(st.integers(*symbols))]
        running = STATES[: draw(st.integers(*states))]
        symbol = st.sampled_from(alphabet)
        step = st.tuples(
            st.sampled_from((*running, *running, *running, HALT)),
            st.tuples(symbol) | st.tuples(symbol, symbol),
        )
        return QueueTable(
            name="random",
            alphabet=alphabet,
            blank=SYMBOLS[0],
            front=FRONT,
            start=running[0],
            halt=HALT,
            rules={state: {letter: draw(step) for letter in alphabet} for state in running},
        )

    return drawn()


def queue_machines(
    *, states: tuple[int, int] = (2, 4), symbols: tuple[int, int] = (2, 4)
) -> st.SearchStrategy[QueueMachine[str]]:
    """The machines of `queue_tables`."""
    return queue_tables(states=states, symbols=symbols).map(QueueTable.machine)
