"""Every instance up to a stated bound, decided by ball arithmetic with a margin: BOUNDED.

An enclosure decides a strict inequality or a distance when it is narrow enough. The precision is
doubled from a first one until it does, up to a last one; an instance that is still open then
leaves the check UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from verify.claims import Profile, Setting
from verify.counterexamples import Counterexample, Shown, replayed
from verify.engines import decided
from verify.errors import MethodError, PrecisionError
from verify.ranges import Range, combined, shard_of
from verify.verdicts import Json, Status, Verdict, unknown


@dataclass(frozen=True, slots=True)
class Undecided:
    """What an instance comes to while its enclosures are too wide, and which ones are."""

    text: str


Decision = Counterexample | Undecided | None
"""What an instance comes to at one precision; None where the statement certainly holds."""
Decide = Callable[[Any, int], Decision]
"""Decides an instance at a precision in bits; a PrecisionError is as good as Undecided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosure:
    """Decides every instance of a stated range from certified enclosures.

    `ranges`, `exhibit` and `parts` are as for `Exhaustive`; `margin` says in words what the
    enclosures must show. Precisions go from `first_bits` by doubling to `last_bits`.
    `rechecked_as` names the definitions by which `recheck.py` encloses anew, where it has any.
    Both engines decide the first instances of a shard, the second from the precision that was
    enough for the first; one that it leaves open does not count as decided by both.

    Raises:
        MethodError: the precisions do not go up from at least 2 bits.
    """

    decide: Decide
    ranges: Mapping[Profile, Range]
    margin: str
    exhibit: Callable[[Any], Json]
    first_bits: int = 64
    last_bits: int = 4096
    parts: int = 1
    rechecked_as: str | None = None
    leans_on: tuple[str, ...] = ("library:flint",)
    name: str = field(default="enclosure", init=False)
    ceiling: Status = field(default=Status.BOUNDED, init=False)
    fresh_process: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Refuse precisions that do not go up."""
        if not 2 <= self.first_bits <= self.last_bits:  # noqa: PLR2004 - Arb's least precision
            raise MethodError(
                "Enclosure needs 2 <= first_bits <= last_bits, got "
                f"{self.first_bits} and {self.last_bits}"
            )

    def scope(self, setting: Setting) -> str:
        """The bound of the profile's range, and the margin."""
        return f"{self.ranges[setting.profile].bound}; {self.margin}"

    def shards(self, setting: Setting) -> int:
        """A fixed number of interleaved parts."""
        del setting
        return self.parts

    def settle(self, setting: Setting) -> Verdict:
        """Decide every `shards`-th instance; a failure ends the search, an open one does not."""
        exhibits: list[Json] = []
        largest, tried, both, still_open = 0, 0, 0, None
        for instance in shard_of(self.ranges, setting):
            bits, decision, twice = self._by_engines(instance, tried)
            tried, largest, both = tried + 1, max(largest, bits), both + twice
            if isinstance(decision, Counterexample):
                return self._refuted(instance, decision, bits, tried)
            exhibits.append(self.exhibit(instance))
            if decision is not None and still_open is None:
                still_open = f"instance {exhibits[-1]} is undecided at {bits} bits: {decision.text}"
        if still_open is not None:
            return unknown(still_open)
        said = self._evidence(len(exhibits), largest, both)
        shown = {"kind": "enclosure", "margin": self.margin, "bits": largest, "instances": exhibits}
        if self.rechecked_as is not None:
            shown["rechecked_as"] = self.rechecked_as
        return Verdict(
            status=Status.BOUNDED,
            evidence=said,
            trusts=self.leans_on,
            instances=len(exhibits),
            certificate=shown,
        )

    def _by_engines(self, instance: Any, before: int) -> tuple[int, Decision, bool]:
        """The precision that was enough, or the last one, how it was decided, and if by both."""
        reached: list[int] = []

        def decide() -> Counterexample | None:
            bits, decision = self._decided(instance, reached[-1] if reached else self.first_bits)
            reached.append(bits)
            if isinstance(decision, Undecided):
                raise PrecisionError(decision.text)
            return decision

        try:
            decision, twice = decided(decide, partial(self.exhibit, instance), before)
        except PrecisionError as error:
            return reached[0], Undecided(str(error)), False
        return reached[0], decision, twice

    def _precisions(self, bits: int) -> Iterator[int]:
        while bits < self.last_bits:
            yield bits
            bits *= 2
        yield self.last_bits

    def _decided(self, instance: Any, first: int) -> tuple[int, Decision]:
        """The first precision from `first` that decides the instance, or the last one, and how."""
        bits, decision = 0, None
        for bits in self._precisions(first):
            decision = self._at(instance, bits)
            if not isinstance(decision, Undecided):
                break
        return bits, decision

    def _at(self, instance: Any, bits: int) -> Decision:
        try:
            return self.decide(instance, bits)
        except PrecisionError as error:
            return Undecided(str(error))

    def _refuted(self, instance: Any, found: Counterexample, bits: int, tried: int) -> Verdict:
        def again(same: Any) -> Counterexample | None:
            decision = self._at(same, bits)
            return decision if isinstance(decision, Counterexample) else None

        kind = self.rechecked_as
        shown = None if kind is None else Shown(rechecked_as=kind, exhibit=self.exhibit)
        return replayed(again, instance, found, tried, shown)

    def _evidence(self, checked: int, bits: int, both: int) -> dict[str, Json]:
        return {"checked": checked, "margin": self.margin, "bits": bits, "both_engines": both}

    def combine(self, verdicts: Sequence[Verdict]) -> Verdict:
        """All instances held, or the failure of the lowest shard."""
        return combined(
            verdicts,
            self.ceiling,
            lambda total: self._evidence(
                total,
                max(verdict.evidence["bits"] for verdict in verdicts),
                sum(verdict.evidence["both_engines"] for verdict in verdicts),
            ),
        )
