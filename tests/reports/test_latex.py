"""claims.tex: a plain article can take it in, whatever stands in the claims."""

from __future__ import annotations

import re
import shutil
import string
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.latex import macro_of, render
from reports.latex_text import escaped
from reports.record import build
from reports.selection import select
from verify.claims import Setting
from verify.run import Outcome
from verify.verdicts import Json, Verdict

ARTICLE = r"""\documentclass{article}
\input{claims}
\begin{document}
\section*{Claims} \claimtable \claimlist
\section*{Findings} \findinglist
\section*{Coverage} \coveragelist
The chain is \claimstatus{machines.chain}, another is \claimstatus{no.such}.
The chain again: \claimMachinesChain{}.
\end{document}
"""


def whole_record() -> dict[str, Json]:
    """A record of all our claims as if each stood as expected."""
    selection = select([])
    outcomes = [
        Outcome(
            claim=item,
            check=0,
            method="smt",
            covers=True,
            scope="",
            verdict=Verdict(status=item.expected, evidence={}, trusts=("library:none",)),
            seconds=0.0,
        )
        for item in selection.claims
    ]
    return build(selection, Setting(), outcomes).record


def test_every_claim_finding_and_place_is_in_it() -> None:
    record = whole_record()
    text = render(record).decode("ascii")
    for claim in record["claims"]:
        assert rf"\@namedef{{certiformer@{claim['id']}}}{{{claim['standing']}}}" in text
        assert escaped(claim["statement"]) in text
    for item in record["findings"]:
        assert escaped(item["text"]) in text
    entries = [entry for part in record["coverage"] for entry in part["entries"]]
    assert text.count(r"\emph{not checked}") == sum(not entry["claims"] for entry in entries)
    assert render(record) == render(whole_record())


def balanced(text: str) -> bool:
    """Whether unescaped braces match."""
    depth = 0
    for brace in re.sub(r"\\[\\{}]", "", text):
        depth += (brace == "{") - (brace == "}")
        if depth < 0:
            return False
    return depth == 0


def test_braces_match() -> None:
    assert balanced(render(whole_record()).decode("ascii"))


@given(st.text(max_size=60))
def test_whatever_is_escaped_is_plain_text(text: str) -> None:
    line = escaped(text)
    assert line.isascii()
    assert "\n" not in line
    assert balanced(line)
    known = (
        r"\\ensuremath\{(?:\\?[A-Za-z]+|\\\||-)\}",
        r"\\(?:[`'^~=.\"]|[uHvc] )\{\\?[A-Za-z]\}",
        r"\\(?:text[a-z]+|ldots|S|ss|ae|AE|oe|OE|o|O|aa|AA|l|L)\{\}",
        r"\\[{}$&#%_]|-\{\}",
    )
    bare = re.sub("|".join(known), "", line)
    assert not set(bare) & set("\\{}$&#%_^")
    assert set(bare) <= set(string.printable)


HOSTILE = "<script>$x$ & 100% \\input{x} #1 ~a_b^c `q` \u202eright-to-left \u200f \U0001d53c"
SHOWN = "\u00e9\u0142\u00df \u03b1 \u0394 \u0391 \u2264 \u2200 \u2192 \u2026 \u201cq\u201d"


def test_what_an_article_cannot_show_is_named() -> None:
    assert escaped("\u202ex\u200f") == "[U+202E]x[U+200F]"
    assert escaped("caf\u00e9, \u03b1 \u2264 \u0394") == (
        r"caf\'{e}, \ensuremath{\alpha} \ensuremath{\leq} \ensuremath{\Delta}"
    )


def hostile_record() -> dict[str, Json]:
    """A whole record, the texts of whose first claim are hostile, and those of the next odd."""
    record = whole_record()
    for claim, text in zip(record["claims"], (HOSTILE, SHOWN), strict=False):
        claim |= {"statement": text, "scope": text, "latex": text}
        claim["source"] = {"paper": text, "where": text}
    return record


def test_a_macro_per_claim_gives_its_standing_unless_two_share_it() -> None:
    record = whole_record()
    text = render(record).decode("ascii")
    for claim in record["claims"]:
        macro = rf"\newcommand\{macro_of(claim['id'])}{{\claimstatus{{{claim['id']}}}}}"
        assert text.count(macro) == 1
    one, two = record["claims"][:2]
    one["id"], two["id"] = "a.b_c", "a.b.c"
    text = render(record).decode("ascii")
    assert r"\newcommand\claimABC" not in text
    assert r"% no \claimABC, which would be a.b_c and a.b.c: use \claimstatus" in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX is installed")
def test_a_plain_article_compiles(tmp_path: Path) -> None:
    (tmp_path / "claims.tex").write_bytes(render(hostile_record()))
    (tmp_path / "article.tex").write_text(ARTICLE)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "article.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
