"""Textbook Turing machines, each with inputs and the tapes that it leaves.

    machine                 input                     tape
    binary increment        a number, in binary       the next one
    palindromes             a word over 0 and 1       1 if it is a palindrome, else 0
    unary addition          1^a + 1^b                 1^(a + b)
    unary copy              1^n                       1^n blank 1^n

The head begins on the input's first symbol.

Source: the exercises that every textbook on computability has; the tables are ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from constructions.machines.definitions import Rule, TuringMachine, Word

BLANK = "_"
HALT = "halt"
_MOVES = {"L": -1, "R": 1, "S": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Textbook:
    """A machine and what it leaves on the tape, blanks at both ends trimmed."""

    machine: TuringMachine
    tapes: Mapping[str, str]

    def words(self) -> tuple[tuple[Word, Word], ...]:
        """Each input with its final tape, as words."""
        return tuple((tuple(word), tuple(tape)) for word, tape in self.tapes.items())


def _machine(name: str, alphabet: str, table: str) -> TuringMachine:
    """The machine of a table: a line a rule, state, symbol, written symbol, move, next state."""
    rules: dict[tuple[str, str], Rule] = {}
    for line in table.strip().splitlines():
        state, symbol, write, move, target = line.split()
        rules[state, symbol] = Rule(write=write, move=_MOVES[move], next_state=target)
    running = tuple(dict.fromkeys(state for state, _ in rules))
    return TuringMachine(
        name=name,
        blank=BLANK,
        alphabet=tuple(alphabet),
        states=(*running, HALT),
        start=running[0],
        halting=frozenset({HALT}),
        rules=rules,
    )


INCREMENT = Textbook(
    machine=_machine(
        "increment",
        "_01",
        """
        right 0 0 R right
        right 1 1 R right
        right _ _ L carry
        carry 1 0 L carry
        carry 0 1 L halt
        carry _ 1 L halt
        """,
    ),
    tapes={"": "1", "0": "1", "1": "10", "10": "11", "1011": "1100", "111": "1000"},
)

PALINDROMES = Textbook(
    machine=_machine(
        "palindromes",
        "_01",
        """
        first 0 _ R zero
        first 1 _ R one
        first _ 1 R halt
        zero 0 0 R zero
        zero 1 1 R zero
        zero _ _ L is0
        one 0 0 R one
        one 1 1 R one
        one _ _ L is1
        is0 0 _ L back
        is0 1 _ L wipe
        is0 _ 1 R halt
        is1 1 _ L back
        is1 0 _ L wipe
        is1 _ 1 R halt
        back 0 0 L back
        back 1 1 L back
        back _ _ R first
        wipe 0 _ L wipe
        wipe 1 _ L wipe
        wipe _ 0 R halt
        """,
    ),
    tapes={"": "1", "0": "1", "01": "0", "11": "1", "010": "1", "0110": "1", "0111": "0"},
)

ADDITION = Textbook(
    machine=_machine(
        "addition",
        "_1+",
        """
        left 1 1 R left
        left + 1 R right
        right 1 1 R right
        right _ _ L last
        last 1 _ L halt
        """,
    ),
    tapes={"+": "", "1+": "1", "+1": "1", "11+1": "111", "111+11": "11111"},
)

COPY = Textbook(
    machine=_machine(
        "copy",
        "_1x",
        """
        take 1 x R pass
        take _ _ L mend
        pass 1 1 R pass
        pass _ _ R put
        put 1 1 R put
        put _ 1 L back
        back 1 1 L back
        back _ _ L home
        home 1 1 L home
        home x x R take
        mend x 1 L mend
        mend _ _ R halt
        """,
    ),
    tapes={"": "", "1": "1_1", "11": "11_11", "111": "111_111"},
)

TEXTBOOK: tuple[Textbook, ...] = (INCREMENT, PALINDROMES, ADDITION, COPY)
"""All of them, the smallest first."""
