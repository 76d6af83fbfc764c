r"""What a run came to, for a paper: `\input{claims}` in a plain article.

    \claimstatus{ID}    the standing of a claim, as a word
    \claimlist          every claim with its standing, where its paper states it, and its statement
    \findinglist        where a paper and what was verified differ
    \coveragelist       what of each paper is checked, place by place

Everything is text: formulas are not typeset, and whatever came from a user is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from verify.verdicts import Json

CLAIMS = "claims.tex"
_ESCAPED = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "`": r"\textquoteleft{}",
    "-": "-{}",
}
_LOOKUP = r"""\makeatletter
\newcommand\claimstatus[1]{\@ifundefined{certiformer@#1}{UNSTATED}{\@nameuse{certiformer@#1}}}"""


def escaped(text: object) -> str:
    """A text as LaTeX shows it literally; characters beyond ASCII become question marks."""
    line = " ".join(str(text).split())
    return "".join(_ESCAPED.get(c, c if c.isascii() and c.isprintable() else "?") for c in line)


def render(record: Mapping[str, Json]) -> bytes:
    """The file for a record; ASCII, the same bytes for the same record."""
    claims = record["claims"]
    lines = [
        f"% {len(claims)} claims, profile {escaped(record['profile'])}, seed {record['seed']};"
        " written by certiformer verify",
        _LOOKUP,
        *(rf"\@namedef{{certiformer@{claim['id']}}}{{{claim['standing']}}}" for claim in claims),
        r"\makeatother",
        *_command("claimlist", _claims(claims)),
        *_command("findinglist", _findings(record["findings"])),
        *_command("coveragelist", _coverage(record.get("coverage", []))),
    ]
    return ("\n".join(lines) + "\n").encode("ascii")


def _command(name: str, body: Iterable[str]) -> Iterator[str]:
    yield rf"\newcommand\{name}{{%"
    yield from body
    yield "}"


def _claims(claims: Iterable[Mapping[str, Json]]) -> Iterator[str]:
    for claim in claims:
        source = claim["source"]
        yield rf"\par\noindent\texttt{{{escaped(claim['id'])}}}\hfill {claim['standing']}\\"
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
    return ", ".join(rf"\texttt{{{escaped(name)}}} (\claimstatus{{{name}}})" for name in ids)
