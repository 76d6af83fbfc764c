"""What `certiformer explain` prints: the paper's words beside the formal goals, then the rest.

Texts come from papers and from users, so each is a `Text` of its own: nothing in it is markup.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports.explaining import Told
from reports.explanation import OUTCOMES, ExplainedCheck, Related, StatedGoal
from reports.terminal import STYLES
from reports.text import COUNTEREXAMPLE_WIDTH, printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

WIDE = 110
"""Columns from which the two sides stand beside each other."""
FIRST_WORDS = 80
_WORDS, _FORMAL = 2, 3
_EVIDENCE = {
    "worlds": "real objects of the code on which every axiom was evaluated: {}",
    "checked": "instances checked, on each of which it held: {}",
    "tried": "examples tried: {}",
    "both_engines": "decided by both engines of exact arithmetic: {}",
}
Lines = Iterator["RenderableType"]


def lines_of(found: Sequence[Told], width: int, *, coloured: bool) -> Iterator[str]:
    """The claims' explanations as lines of at most `width` columns, with escapes if coloured."""
    from rich.console import Console, Group

    console = Console(
        width=width,
        force_terminal=coloured,
        color_system="standard" if coloured else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for number, one in enumerate(found):
        with console.capture() as kept:
            console.print(Group(*([""] if number else []), *_told(one, width)), crop=False)
        yield from (line.rstrip() for line in kept.get().splitlines())


def _told(one: Told, width: int) -> Lines:
    yield _heading(one)
    yield _whole(_text(_origin(one), "dim"))
    yield _text("")
    if width >= WIDE:
        yield _beside(_words(one), _formal(one))
    else:
        yield from (*_words(one), _text(""), *_formal(one))
    yield from _rest(one)


def _heading(one: Told) -> Text:
    found = one.explanation
    title = _text(found.id, "bold")
    if found.standing:
        title.append("  ").append_text(_status(found.standing)).append("  ")
        title.append(OUTCOMES[found.outcome], _style(found.outcome))
    return title


def _origin(one: Told) -> str:
    if one.folder is None:
        return "as its code states it; no run was looked at"
    since = "; the sources have changed since" if one.changed else ""
    return f"as settled in {one.folder} (profile {one.profile}, seed {one.seed}){since}"


# --- side by side ----------------------------------------------------------------------------


def _beside(left: Iterable[RenderableType], right: Iterable[RenderableType]) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(ratio=_WORDS)
    table.add_column(ratio=_FORMAL)
    table.add_row(Group(*left), Group(*right))
    return table


def _words(one: Told) -> Lines:
    found = one.explanation
    yield _text("What the paper says", "bold")
    yield _text(f"{found.paper}, {found.where}", "dim")
    yield _text(found.statement)
    if found.latex.strip():
        yield _named("formula", found.latex)
    yield _named("speaks of", found.scope)


def _formal(one: Told) -> Lines:
    yield _text("What is checked", "bold")
    if one.fault:
        yield _named("nothing", one.fault)
    for number, check in enumerate(one.explanation.checks):
        if number:
            yield _text("")
        yield from _checked(number, check)


def _checked(number: int, check: ExplainedCheck) -> Lines:
    title = _text(f"check {number}: {check.method} ")
    title.append("covers the statement" if check.covers else "supports it")
    if check.status:
        title.append("  ").append_text(_status(check.status))
    yield title
    if check.way:
        yield _text(check.way, "dim")
    if check.scope:
        yield _named("speaks of", check.scope)
    for equation in check.equations:
        yield _named("equation", str(equation))
    for goal in (*check.concluded, *check.lemmas):
        yield from _asked(goal)
    for theory in check.theories:
        yield _named("axioms of", theory.name)
        for axiom in theory.axioms:
            yield _indented(_named(axiom.name, axiom.gloss), 2)
            yield _indented(_formula(axiom.formula), 4)


def _asked(goal: StatedGoal) -> Lines:
    where = "" if goal.theory is None else f", in the theory {goal.theory}"
    yield _named("goal", f"{goal.name} ({goal.role}{where})")
    for part in goal.assumptions:
        yield _indented(_text("assume", "dim"), 2)
        yield _indented(_formula(part), 4)
    yield _indented(_text("prove", "dim"), 2)
    yield _indented(_formula(goal.conclusion), 4)


# --- below -----------------------------------------------------------------------------------


def _rest(one: Told) -> Lines:
    found = one.explanation
    yield from (_text(""), _text("How it hangs together", "bold"))
    yield _named("expected", "").append_text(_status(found.expected))
    if found.status:
        yield _named("status", "by its own checks ").append_text(_status(found.status))
    for name, others in (("rests on", found.rests_on), ("on it rests", found.used_by)):
        for other in others:
            yield _related(name, other, one.statements)
        if not others:
            yield _named(name, "no other claim")
    for trust in found.trusted:
        said = f": {trust.statement} ({trust.reference})" if trust.statement else ""
        yield _named("trusts", f"{trust.name}{said}")
    for place in one.places:
        yield _named("checks", f"{place['paper']}, {place['where']}: {place['what']}")
    for finding in one.findings:
        yield _named("finding", f"{finding['id']} ({finding['kind']}): {finding['title']}")
    if one.folder is not None:
        yield from _evidence(one)
    yield _whole(_named("repeat it", found.command))


def _related(name: str, other: Related, statements: Mapping[str, str]) -> Text:
    line = _named(name, other.id)
    if other.standing:
        line.append(" ").append_text(_status(other.standing))
    if words := statements.get(other.id):
        line.append(f": {printable(words, FIRST_WORDS)}")
    return line


def _evidence(one: Told) -> Lines:
    yield from (_text(""), _text("Evidence", "bold"))
    for number, check in enumerate(one.explanation.checks):
        took = "" if check.seconds is None else f" in {check.seconds:.1f} s"
        line = _text(f"check {number}: {check.method} ").append_text(_status(check.status))
        yield line.append(took)
        yield from (_indented(part, 2) for part in _said(check))
        if check.certificate:
            yield _whole(_named("  certificate", f"{one.folder}/{check.certificate}"))
    if one.mutants is not None:
        counted = f"{one.mutants.planted} planted, kill rate {one.mutants.rate}"
        yield _named("mutants", counted)
        for row in one.mutants.rows:
            if row["outcome"] != "killed":
                yield _indented(_named(str(row["outcome"]), f"{row['id']}: {row['words']}"), 2)
    folder = shlex.quote(str(one.folder))
    yield _whole(_named("recheck it", f"certiformer recheck {folder}"))


def _said(check: ExplainedCheck) -> Iterator[Text]:
    found = check.evidence
    if "reason" in found:
        yield _named("crashed" if check.status == "BROKEN" else "not settled", str(found["reason"]))
    if "text" in found:
        yield _named("counterexample", str(found["text"]))
    if "counterexample" in found:
        yield _text(json.dumps(found["counterexample"], sort_keys=True, ensure_ascii=True))
    if check.solvers:
        valid = "each goal found valid" if check.valid else "not every goal found valid"
        yield _text(f"{len(check.goals)} goals put to {' and '.join(check.solvers)}: {valid}")
    for goal in check.goals:
        answers = goal.answers.items()
        if odd := [f"{solver} {answer}" for solver, answer in answers if answer != "unsat"]:
            yield _named("not valid", f"{goal.name}: {', '.join(odd)}")
    for key, words in _EVIDENCE.items():
        if key in found:
            yield _text(words.format(found[key]))
    for key, value in check.rest.items():
        yield _named(key, json.dumps(value, sort_keys=True, ensure_ascii=True))


# --- pieces ----------------------------------------------------------------------------------


def _text(words: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(printable(words, COUNTEREXAMPLE_WIDTH), style=style, overflow="fold")


def _named(name: str, words: str) -> Text:
    """A text after the name of what it is."""
    from rich.text import Text

    line = Text(overflow="fold").append(f"{printable(name)}: ", "dim")
    return line.append(printable(words, COUNTEREXAMPLE_WIDTH))


def _formula(text: str) -> Text:
    from rich.text import Text

    return Text("\n".join(map(printable, text.splitlines())), overflow="fold")


def _whole(line: Text) -> Text:
    """A line that is to be copied: it is never broken, however long it is."""
    line.no_wrap, line.overflow = True, "ignore"
    return line


def _indented(part: Any, columns: int) -> RenderableType:
    from rich.padding import Padding

    return Padding(part, (0, 0, 0, columns))


def _status(status: str) -> Text:
    from rich.text import Text

    return Text(status, _style(status))


def _style(word: str) -> str:
    """The colour that the word has in every table."""
    given = STYLES.get(word, {})
    return f"{'bold ' if given.get('bold') else ''}{given.get('fg', '')}".strip()
