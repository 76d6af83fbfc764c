"""Random machines for the tests of this folder."""

from collections.abc import Callable

import pytest
from hypothesis import strategies as st

from constructions.machines.definitions import QueueMachine, Rule, TuringMachine, tabulated

TuringCase = tuple[TuringMachine, tuple[str, ...]]
QueueCase = tuple[QueueMachine[str], tuple[str, ...]]


@st.composite
def _turing_cases(draw: st.DrawFn) -> TuringCase:
    alphabet = ("_", "a", "b")[: draw(st.integers(2, 3))]
    running = ("p", "q", "r", "s", "t")[: draw(st.integers(2, 5))]
    rule = st.builds(
        Rule,
        write=st.sampled_from(alphabet),
        move=st.sampled_from((-1, 1, -1, 1, 0)),
        next_state=st.sampled_from((*running, *running, "halt")),
    )
    places = [(state, symbol) for state in running for symbol in alphabet]
    entries = draw(st.lists(st.none() | rule | rule, min_size=len(places), max_size=len(places)))
    machine = TuringMachine(
        name="random",
        blank="_",
        alphabet=alphabet,
        states=(*running, "halt"),
        start="p",
        halting=frozenset({"halt"}),
        rules={place: rule for place, rule in zip(places, entries, strict=True) if rule},
    )
    return machine, tuple(draw(st.lists(st.sampled_from(alphabet), max_size=5)))


@st.composite
def _queue_cases(draw: st.DrawFn) -> QueueCase:
    alphabet = (">", "_", "a", "b")[: draw(st.integers(2, 4))]
    running = ("p", "q", "r", "s")[: draw(st.integers(1, 4))]
    symbols = st.sampled_from(alphabet)
    step = st.tuples(
        st.sampled_from((*running, *running, *running, "halt")),
        st.tuples(symbols) | st.tuples(symbols, symbols),
    )
    table = {state: {symbol: draw(step) for symbol in alphabet} for state in running}
    machine = QueueMachine(
        name="random",
        alphabet=alphabet,
        blank="_",
        front=">",
        start="p",
        halt="halt",
        rule=tabulated(table),
    )
    return machine, tuple(draw(st.lists(symbols, max_size=6)))


@pytest.fixture(scope="session")
def turing_cases() -> st.SearchStrategy[TuringCase]:
    """Random Turing machines with inputs, stay moves and missing rules among them."""
    return _turing_cases()


@pytest.fixture(scope="session")
def queue_cases() -> st.SearchStrategy[QueueCase]:
    """Random queue machines with inputs."""
    return _queue_cases()


@pytest.fixture(scope="session")
def stays() -> Callable[[TuringMachine], bool]:
    """Whether a Turing machine has a stay move."""
    return lambda machine: any(rule.move == 0 for rule in machine.rules.values())
