"""Findings: where a paper's statement and what was verified differ, each resting on claims.

    confirmed     what the paper leaves unproved or unstated holds, and is proved here
    sharper       a bound or a size of the paper can be improved
    gap           a step that is missing or does not hold as written, with its repair
    discrepancy   two places of a paper, or the paper and the computation, say different things

A finding is there only while every claim that it rests on stands where it is expected to. Its text
is written by a function, so that the numbers in it are computed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass
from types import ModuleType
from typing import Literal, get_args

from verify.claims import Source
from verify.containment import contained
from verify.errors import ClaimError
from verify.loading import modules_of

Kind = Literal["confirmed", "sharper", "gap", "discrepancy"]
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding: where the paper says what, and what the claims establish instead.

    `words` are the paper's own, as short as they can be; `write` gives the text.
    """

    id: str
    kind: Kind
    source: Source
    title: str
    words: str
    claims: tuple[str, ...]
    write: Callable[[], str]
    module: str

    def text(self) -> str:
        """What was verified, with its numbers computed; why not, if that raises."""
        try:
            with contained():
                return " ".join(self.write().split())
        except (Exception, SystemExit) as error:
            return f"Its text cannot be computed: {type(error).__name__}: {error}"

    def stands(self, reached: Collection[str]) -> bool:
        """Whether all claims that it rests on are among those that stand as expected."""
        return set(self.claims) <= set(reached)


def finding(
    *, id: str, kind: Kind, source: Source, words: str, claims: tuple[str, ...]
) -> Callable[[Callable[[], str]], Finding]:
    """Turn a documented function that returns a text into a Finding; its docstring is the title.

    Raises:
        ClaimError: no docstring, an unknown kind, or no claim to rest on.
    """

    def decorate(write: Callable[[], str]) -> Finding:
        title = " ".join(inspect.cleandoc(write.__doc__ or "").split())
        for what, right in (
            ("a docstring, which is its title", bool(title)),
            (f"one of the kinds {', '.join(KINDS)}", kind in KINDS),
            ("a claim that it rests on", bool(claims)),
        ):
            if not right:
                raise ClaimError(f"finding {id} must have {what}, got none; add it")
        return Finding(
            id=id,
            kind=kind,
            source=source,
            title=title.rstrip("."),
            words=words,
            claims=claims,
            write=write,
            module=write.__module__,
        )

    return decorate


def findings_in(package: str | ModuleType) -> list[Finding]:
    """All findings of a package or module, submodules included, sorted by id.

    Raises:
        ClaimError: two findings share an id.
    """
    found: dict[str, Finding] = {}
    for module in modules_of(package):
        for value in vars(module).values():
            if not isinstance(value, Finding) or value.module != module.__name__:
                continue
            if value.id in found:
                raise ClaimError(f"two findings have the id {value.id!r}; rename one")
            found[value.id] = value
    return [found[key] for key in sorted(found)]
