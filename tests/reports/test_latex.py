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

from reports.latex import escaped, render
from reports.record import build
from reports.selection import select
from verify.claims import Setting
from verify.run import Outcome
from verify.verdicts import Json, Verdict

ARTICLE = r"""\documentclass{article}
\input{claims}
\begin{document}
\section*{Claims} \claimlist
\section*{Findings} \findinglist
\section*{Coverage} \coveragelist
The chain is \claimstatus{machines.chain}, another is \claimstatus{no.such}.
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
    bare = re.sub(r"\\(?:text[a-z]+\{\}|[{}$&#%_])|-\{\}", "", line)
    assert not set(bare) & set("\\{}$&#%_^~")
    assert set(bare) <= set(string.printable)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX is installed")
def test_a_plain_article_compiles(tmp_path: Path) -> None:
    (tmp_path / "claims.tex").write_bytes(render(whole_record()))
    (tmp_path / "article.tex").write_text(ARTICLE)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "article.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
