r"""What a run came to, for a paper: `\input{claims}` in a plain article.

    \claimstatus{ID}    the standing of a claim, as a word
    \claimPaperTheorem  the same for the claim paper.theorem: a macro per claim
    \claimtable         a line per claim: its id, where its paper states it, and its standing
    \claimlist          every claim with its standing, where its paper states it, and its statement
    \findinglist        where a paper and what was verified differ
    \coveragelist       what of each paper is checked, place by place

Everything is text: formulas are not typeset, and whatever came from a user is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from reports.latex_text import escaped
from verify.verdicts import Json

CLAIMS = "claims.tex"
_LOOKUP = r"""\makeatletter
\newcommand\claimstatus[1]{\@ifundefined{certiformer@#1}{UNSTATED}{\@nameuse{certiformer@#1}}}"""
_DIGITS = "Zero One Two Three Four Five Six Seven Eight Nine".split()


def render(record: Mapping[str, Json]) -> bytes:
    """The file for a record; ASCII, the same bytes for the same record."""
    claims = record["claims"]
    lines = [
        f"% {len(claims)} claims, profile {escaped(record['profile'])}, seed {record['seed']};"
        " written by certiformer verify",
        _LOOKUP,
        *(rf"\@namedef{{certiformer@{claim['id']}}}{{{claim['standing']}}}" for claim in claims),
        r"\makeatother",
        *_macros([claim["id"] for claim in claims]),
        *_command("claimtable", _table(claims)),
        *_command("claimlist", _claims(claims)),
        *_command("findinglist", _findings(record["findings"])),
        *_command("coveragelist", _coverage(record.get("coverage", []))),
    ]
    return ("\n".join(lines) + "\n").encode("ascii")


def macro_of(claim: str) -> str:
    r"""The macro of a claim's id, without the backslash: letters only, so digits are spelled.

    >>> macro_of("universal.tree.theorem_3_1")
    'claimUniversalTreeTheoremThreeOne'
    """
    words = re.findall("[a-z]+|[0-9]", claim)
    return "claim" + "".join(
        _DIGITS[int(word)] if word.isdigit() else word.capitalize() for word in words
    )


def _macros(ids: Sequence[str]) -> Iterator[str]:
    """A macro for each claim, but for ids that differ in dots and underscores only."""
    of: dict[str, list[str]] = {}
    for name in ids:
        of.setdefault(macro_of(name), []).append(name)
    for macro, names in of.items():
        if len(names) == 1:
            yield rf"\newcommand\{macro}{{\claimstatus{{{names[0]}}}}}"
        else:
            yield rf"% no \{macro}, which would be {' and '.join(names)}: use \claimstatus"


def _table(claims: Iterable[Mapping[str, Json]]) -> Iterator[str]:
    """A row is a line of its own, so that the table breaks across pages."""
    rows = [("Claim", "Where", "Standing")]
    rows += [
        (
            rf"\texttt{{{_breakable(claim['id'])}}}",
            rf"{escaped(claim['source']['paper'])}, {escaped(claim['source']['where'])}",
            rf"\claimstatus{{{claim['id']}}}",
        )
        for claim in claims
    ]
    for claim, where, standing in rows:
        yield (
            rf"\par\noindent\parbox[t]{{.44\linewidth}}{{\raggedright\strut {claim}\strut}}\hfill"
            rf"\parbox[t]{{.38\linewidth}}{{\raggedright\strut {where}\strut}}\hfill"
            rf"\makebox[.16\linewidth][l]{{\small {standing}}}\par"
        )


def _breakable(name: str) -> str:
    return re.sub(r"(\.|\\_)", r"\1\\allowbreak{}", escaped(name))


def _command(name: str, body: Iterable[str]) -> Iterator[str]:
    yield rf"\newcommand\{name}{{{{\sloppy"  # a group: what comes after is set as before
    yield from body
    yield r"\par}}"


def _claims(claims: Iterable[Mapping[str, Json]]) -> Iterator[str]:
    for claim in claims:
        source = claim["source"]
        yield rf"\par\noindent\texttt{{{_breakable(claim['id'])}}}\hfill {claim['standing']}\\"
        yield f"{escaped(source['paper'])}, {escaped(source['where'])}: "
        yield rf"{escaped(claim['statement'])}\par\smallskip"


def _findings(findings: Iterable[Mapping[str, Json]]) -> Iterator[str]:
    for item in findings:
        source = item["source"]
        yield rf"\par\noindent\textbf{{{escaped(item['title'])}}} ({escaped(item['kind'])}).\\"
        yield f"{escaped(source['paper'])}, {escaped(source['where'])}: "
        yield f"``{escaped(item['words'])}'' {escaped(item['text'])} "
        yield rf"Established by {_names(item['claims'])}.\par\smallskip"


def _coverage(parts: Iterable[Mapping[str, Json]]) -> Iterator[str]:
    for part in parts:
        checked, entries = part["checked"], part["entries"]
        yield (
            rf"\par\noindent\textbf{{{escaped(part['paper'])}: {checked} of {len(entries)} "
            r"places checked}\par"
        )
        for entry in entries:
            by = _names(entry["claims"]) if entry["claims"] else r"\emph{not checked}"
            reason = f" ({escaped(entry['reason'])})" if entry["reason"] else ""
            place = f"{escaped(entry['where'])}, {escaped(entry['what'])}"
            yield rf"\noindent {place}: {by}{reason}\par"
        yield r"\smallskip"


def _names(ids: Iterable[str]) -> str:
    return ", ".join(rf"\texttt{{{_breakable(name)}}} (\claimstatus{{{name}}})" for name in ids)
