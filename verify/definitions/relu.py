"""The parity MLP as a ReLU network of whole numbers."""

from __future__ import annotations

import itertools
import operator
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any

from verify.definitions.machines import (
    HALT,
    MARKER,
    START,
    Table,
    generated,
    label_text,
    numbered_delta,
    parities,
    queue_step,
    transformer_token,
)
from verify.definitions.plain import require

Affine = tuple[list[list[int]], list[int]]


def relu_run(layers: list[Affine], vector: list[int], unit: int) -> list[int]:
    """The last hidden layer's neurons, for a vector given times `unit`; so is the answer."""
    for rows, bias in layers:
        sums = [sum(map(operator.mul, row, vector)) for row in rows]
        vector = [max(0, a + unit * b) for a, b in zip(sums, bias, strict=True)]
    return vector


def parity_layers(levels: int, scale: int) -> list[Affine]:
    """Theorem 9's layers for one symbol, from (c y, y): a fold for each level, then the reading."""
    layers: list[Affine] = []
    for level in reversed(range(levels)):
        shift = 1 << level
        folds = [[1, 1, -shift], [-1, -1, shift], [0, 0, 1]]
        layers.append((folds if layers else [row[1:] for row in folds], [0, 0, 0]))
    return [*layers, ([[-4 * scale, -4 * scale, 2 * scale]] * 2, [0, -1])]


def parity_bit(layers: list[Affine], count: int, context: int, marker: int = 1) -> Fraction:
    """The bit that the layers read for a count in a context of so many tokens."""
    high, low = relu_run(layers, [count, marker], context)
    return Fraction(high - low, context)


def levels_and_scale(longest: int) -> tuple[int, int]:
    """The least K >= 1 with S <= 2^K, and the least power of two s >= S + 1."""
    levels = next(k for k in itertools.count(1) if longest <= 1 << k)
    return levels, next(1 << k for k in itertools.count() if longest + 1 <= 1 << k)


MOST_CONTEXTS = 40


def check_relu_parity(exhibit: Any) -> str | None:
    """Every count up to S: in all contexts of at most S + 1 tokens, or the least two and last two.

    For S above 40 not all contexts are run through the layers.
    """
    longest = exhibit["longest"]
    levels, scale = levels_and_scale(longest)
    require((exhibit["levels"], exhibit["scale"]) == (levels, scale), "other K or s for this S")
    width = 2 * (longest + 1)
    require(exhibit["widths"] == [width + 1] * levels + [width], "the widths are others")
    require(longest <= 1 or 1 << (levels - 1) < longest, "the depth is not below log2(S) + 2")
    layers = parity_layers(levels, scale)
    bits = [count % 2 for count in range(longest + 1)]
    require(exhibit["bits"] == bits, "the bits are others")
    every = range(1, longest + 2)
    chosen = every if longest <= MOST_CONTEXTS else (1, 2, longest, longest + 1)
    for context in chosen:
        came = [parity_bit(layers, count, context) for count in range(longest + 1)]
        require(came == bits, f"the layers read other bits in a context of {context} tokens")
    if len(chosen) == len(every):
        return None
    return f"the first two and the last two contexts of {len(every)}"


@dataclass(frozen=True)
class Plain:
    """A Turing machine as a table, with what its transformer's labels are made of."""

    table: Table
    start: str
    blank: str
    cells: list[str]

    @staticmethod
    def of(machine: Any) -> Plain:
        """The machine of an exhibit; its moves are -1, 0 and 1, its halting states become Z."""
        moves = {-1: "L", 0: "S", 1: "R"}
        table = {
            (state, symbol): (write, moves[move], "Z" if target in machine["halting"] else target)
            for state, symbol, write, move, target in machine["rules"]
            if state not in machine["halting"]
        }
        return Plain(table, machine["start"], machine["blank"], machine["alphabet"])

    @property
    def alphabet(self) -> list[str]:
        """The queue machine's: start symbol, cells, marked cells."""
        return [START, *self.cells, *(cell + "*" for cell in self.cells)]

    def delta(self, state: Any, seen: frozenset[str]) -> tuple[Any, list[str]]:
        """The parity-HIST machine's transition."""
        control, kept = state
        (front,) = {START} if control is None else kept ^ seen
        target, new, _ = queue_step(self.table, control, front, self.start, self.blank)
        return (target, seen ^ parities(new)), new

    def popped(self, control: Any) -> list[str]:
        """The front symbols on which a running control has a rule."""
        if control is None:
            return [START]
        plain = control[2] == "scan"
        return [s for s in self.alphabet if plain or not s.endswith("*")]

    def asked(self, label: Any) -> list[Any]:
        """The parities on which G is defined at a label; None where they do not matter."""
        kind, (control, kept), *_ = label
        if kind == "P" or control == HALT:
            return [None]
        if control is None:
            sizes = range(len(self.cells) + 1)
            return [frozenset(s) for n in sizes for s in itertools.combinations(self.cells, n)]
        return [kept ^ {symbol} for symbol in self.popped(control)]

    def answer(self, label: Any, seen: Any, present: int) -> tuple[str, Any, int]:
        """G at a label, for a word of these parities with or without the marker."""
        shown = [*(seen or ()), MARKER] if present else [START]
        return transformer_token([(symbol, label) for symbol in shown], self.delta, START)

    def labels(self) -> list[Any]:
        """The labels reachable in the control graph."""
        found: dict[Any, None] = {}
        waiting: list[Any] = [("N", (None, frozenset[str]()))]
        while waiting:
            label = waiting.pop()
            if label not in found:
                found[label] = None
                waiting += [self.answer(label, seen, 1)[1] for seen in self.asked(label)]
        return list(found)

    def bits(self, seen: frozenset[str]) -> str:
        """Parities as 0 and 1 in the alphabet's order."""
        return "".join(str(int(symbol in seen)) for symbol in self.alphabet)

    def text(self, label: Any) -> str:
        """How certificates write a label of a Turing machine's transformer."""
        kind, (control, kept), *owed = label
        first = str(int(control is None))
        named = (self.start, START, "start") if control is None else control
        parts = ("", "", HALT) if control == HALT else named
        return "|".join((kind, *parts, self.bits(kept), first, *(owed or [""])))

    def token_text(self, token: tuple[str, Any, int]) -> str:
        """How certificates write a token."""
        return f"{token[0]} {token[2]} {self.text(token[1])}"


def conjunction(features: list[int]) -> int:
    """relu(sum - (number - 1)): 1 if all features are 1, else 0."""
    return max(0, sum(features) - (len(features) - 1))


def check_label(plain: Plain, label: Any) -> list[str]:
    """One neuron, the right one, is 1 at every answer of G at a label; a line for each neuron."""
    order, asked = plain.alphabet, plain.asked(label)
    answers = [plain.answer(label, seen, 1) for seen in asked]
    refreshed = plain.answer(label, None, 0)
    for present, seen, token in [(0, frozenset[str](), refreshed)] + [
        (1, seen or frozenset[str](), token) for seen, token in zip(asked, answers, strict=True)
    ]:
        active = [refreshed] * max(0, 1 - present)
        for wanted, emitted in zip(asked, answers, strict=True):
            terms = [int((s in seen) == (s in wanted)) for s in order] if wanted is not None else []
            active += [emitted] * conjunction([1, present, *terms])
        require(active == [token], f"the neurons at {plain.text(label)} emit another token")
    lines = [f"{plain.text(label)} absent -> {plain.token_text(refreshed)}"]
    for seen, token in zip(asked, answers, strict=True):
        text = "any" if seen is None else plain.bits(seen)
        lines.append(f"{plain.text(label)} {text} -> {plain.token_text(token)}")
    return lines


def check_relu_run(exhibit: Any, plain: Plain) -> None:
    """The tokens of a run, until the context outgrows the network or the run ends."""
    begin = ("N", (None, frozenset[str]()))
    context: list[Any] = [(symbol, begin) for symbol in [*exhibit["input"], MARKER]]
    tokens: list[str] = []
    while len(context) <= exhibit["longest"] + 1:
        kind, (control, _), *_ = context[-1][1]
        if (kind, control) == ("N", HALT):
            break
        token = transformer_token(context, plain.delta, START)
        context = generated(context, token)
        tokens.append(plain.token_text(token))
    require(exhibit["tokens"] == tokens, f"the run has {len(tokens)} tokens, or other ones")


def check_relu_counts(exhibit: Any) -> None:
    """Every count below m yields its bit and the marker is seen; m = 0: neither."""
    levels, scale = levels_and_scale(exhibit["longest"])
    layers = parity_layers(levels, scale)
    present = int(exhibit["context"] > 0)
    unit = exhibit["context"] or exhibit["longest"] + 1
    require(unit <= exhibit["longest"] + 1, "the context is longer than S + 1")
    for count in range(unit):
        bit = parity_bit(layers, count, unit, present)
        require(bit == present * (count % 2), f"the bit of count {count} is {bit}")
    high, low = relu_run([([[scale], [scale]], [0, -1])], [present], unit)
    require(high - low == unit * present, "the marker is read wrongly")


def check_relu_network(exhibit: Any) -> None:
    """One part of a machine's network: its widths, its counts, all its labels or a run."""
    part = exhibit["part"]
    if part == "counts":
        check_relu_counts(exhibit)
        return
    plain = Plain.of(exhibit["machine"])
    if part == "run":
        check_relu_run(exhibit, plain)
        return
    labels = plain.labels()
    if part == "labels":
        lines = sorted(line for label in labels for line in check_label(plain, label))
        require(exhibit["answers"] == len(lines), f"there are {len(lines)} answers")
        digest = sha256("\n".join(lines).encode()).hexdigest()
        require(exhibit["sha256"] == digest, "the answers at the reachable labels are others")
        return
    require(part == "layers", f"{part!r} is no part of a network")
    size, levels = len(plain.alphabet), levels_and_scale(exhibit["longest"])[0]
    width = 2 * (size + 1) + len(labels) + 2
    rows = sum(1 + len(plain.asked(label)) for label in labels)
    widths = [2 * size + width] * levels + [2 * size + 2 + width, rows + width]
    require(exhibit["widths"] == widths, f"the widths are {widths}")


def check_relu_blocks(exhibit: Any) -> None:
    """All conjunctions of a numbered machine at every label: together they emit the one token."""
    delta, masks = numbered_delta(exhibit["machine"]), exhibit["masks"]
    subsets = [frozenset(s) for s in ("", "a", "b", "ab")]

    def answer(label: Any, seen: Any, present: int) -> tuple[str, Any, int]:
        shown = [*(seen or ()), MARKER] if present else ["a"]
        return transformer_token([(symbol, label) for symbol in shown], delta, "a")

    neurons: list[tuple[Any, int, Any, Any]] = []
    found: dict[Any, None] = {}
    asked: list[Any] = [subsets[mask] for mask in masks]
    waiting: list[Any] = [("N", ("p",))]
    while waiting:
        label = waiting.pop()
        if label not in found:
            found[label] = None
            running = label[0] == "N" and label[1] != (HALT,)
            neurons.append((label, 0, None, answer(label, None, 0)))
            for seen in asked if running else [None]:
                neurons.append((label, 1, seen, answer(label, seen, 1)))
                waiting.append(neurons[-1][3][1])
    stated = {(label, here, mask): token for label, here, mask, token in exhibit["answers"]}
    require(len(stated) == len(exhibit["answers"]), "a question is answered twice")
    require(len(stated) == 2 * len(subsets) * len(found), "some questions are missing")
    for newest, here, mask in itertools.product(found, (0, 1), range(len(subsets))):
        emitted: list[Any] = []
        for label, present, seen, token in neurons:
            own = int(label == newest)
            same = [] if seen is None else [(s in seen) == (s in subsets[mask]) for s in "ab"]
            terms = list(map(int, same))
            value = conjunction([own, here, *terms]) if present else max(0, own - here)
            emitted += [[token[0], label_text(token[1]), token[2]]] * value
        token = stated[label_text(newest), here, mask]
        require(emitted == ([token] if token else []), f"the neurons emit {emitted}, not {token}")
