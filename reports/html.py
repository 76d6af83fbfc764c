"""The page of a run: one file, readable without a network, rebuilt from the record alone."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports import graph, mathml
from reports.explanation import MEANINGS, OUTCOMES, Explanation, command_of, explained, trusted
from reports.figures import counterexamples
from reports.figures.svg import Figure
from reports.mutation_page import mutants_of
from verify.verdicts import Json, Status

if TYPE_CHECKING:
    from reports.experiments.gathered import Experiments

INDEX = "index.html"
LEAST_ZOOM = 0.8
"""A drawing is scaled down to this at most; beyond it, it scrolls."""
LINE = 100
"""Data longer than this is shown on several lines."""
LETTERS = {name: "X" if name == "BROKEN" else name[0] for name in MEANINGS}
_TEMPLATES = Path(__file__).parent / "templates"
_UNSEEN = (
    *(code for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (0x09, 0x0A, 0x0D)),
    *(0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),
)
_SEEN = {code: f"⟨U+{code:04X}⟩" for code in _UNSEEN}


def visible(text: str) -> str:
    r"""The text with control characters, and those that reorder what is read, named by number.

    >>> visible("a\u202eb")
    'a⟨U+202E⟩b'
    """
    return text.translate(_SEEN)


def render(
    record: Mapping[str, Json],
    run: Mapping[str, Json] | None = None,
    figures: Sequence[Figure] = (),
    experiments: Experiments | None = None,
    mutants: Mapping[str, Json] | None = None,
) -> bytes:
    """The page as UTF-8.

    `run`, the content of run.json, adds the time that each check took; `mutants`, that of
    mutants.json, what was broken of each claim and noticed.
    """
    claims = explained(record, run)
    return _filled(
        "index.html",
        graph.connected(record["claims"]),
        script=(_TEMPLATES / "page.js").read_text(encoding="utf-8"),
        record=record,
        claims=claims,
        papers=_papers(claims),
        counts=_counts(claims),
        methods=sorted({method for claim in claims for method in claim.methods}),
        unreached=[claim for claim in claims if claim.outcome != "ok"],
        by_id={claim.id: claim for claim in claims},
        formulas={claim.id: _formula(claim.latex) for claim in claims},
        mutants={row["id"]: mutants_of(mutants, row) for row in record["claims"]},
        facts=_facts(claims),
        whole=command_of(record, record["selectors"]),
        meanings=MEANINGS,
        outcomes=OUTCOMES,
        letters=LETTERS,
        figures=_inline(figures),
        tables=experiments.tables if experiments else (),
        curves=_inline(experiments.figures if experiments else ()),
        saved=True,
        interrupted=bool(run and run.get("interrupted")),
    )


def render_experiments(experiments: Experiments) -> bytes:
    """The page of saved runs alone, as UTF-8; its drawings have no files of their own."""
    return _filled(
        "experiments.html",
        graph.connected(()),
        script="",
        tables=experiments.tables,
        curves=_inline(experiments.figures),
        saved=False,
    )


def _filled(
    name: str, drawings: tuple[graph.Drawing, graph.Drawing], script: str, **parts: Any
) -> bytes:
    """A page of a template and its parts, with the style and the script that its policy names."""
    from markupsafe import Markup

    environment = _environment()
    layered, loose = drawings
    style = environment.get_template("style.css").render(
        layered=layered, loose=loose, least=LEAST_ZOOM
    )
    text = environment.get_template(name).render(
        drawings=drawings,
        style=Markup(style),  # noqa: S704 - our own style sheet
        style_hash=_hashed(style),
        script=Markup(script),  # noqa: S704 - our own script
        script_hash=_hashed(script),
        **parts,
    )
    return text.encode("utf-8", "replace")


@cache
def _environment() -> Any:
    """The templates, each compiled once."""
    import jinja2

    environment: Any = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["pretty"] = _pretty
    environment.globals["drawn"] = _drawn
    return environment


def _shown(value: object) -> object:
    """What a template writes: plain text made visible, then escaped; markup as it stands."""
    return visible(value) if type(value) is str else value


def _hashed(text: str) -> str:
    """How a content policy names an inline style or script."""
    return base64.b64encode(sha256(text.encode()).digest()).decode()


def _formula(latex: str) -> Any:
    """The formula as MathML, or None where there is none or it cannot be converted."""
    from markupsafe import Markup

    formula = mathml.convert(visible(latex)) if latex.strip() else None
    return None if formula is None else Markup(formula)  # noqa: S704 - escaped


def _inline(figures: Sequence[Figure]) -> list[tuple[str, str, Any]]:
    """Name, caption and drawing of each figure."""
    from markupsafe import Markup

    return [
        (figure.name, figure.caption, Markup(figure.inline))  # noqa: S704 - our own drawing
        for figure in figures
    ]


def _drawn(evidence: Mapping[str, Json]) -> Any:
    """A counterexample's drawing as markup, or None where nothing of it can be drawn."""
    from markupsafe import Markup

    drawing = counterexamples.drawn(evidence)
    return None if drawing is None else Markup(drawing)  # noqa: S704 - our own drawing


def _pretty(value: Json) -> str:
    line = json.dumps(value, sort_keys=True, ensure_ascii=False)
    if len(line) <= LINE:
        return line
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)


def _papers(claims: Sequence[Explanation]) -> list[tuple[str, list[Explanation]]]:
    names = sorted({claim.paper for claim in claims})
    return [(name, [claim for claim in claims if claim.paper == name]) for name in names]


def _counts(claims: Sequence[Explanation]) -> list[tuple[str, int]]:
    count = Counter(claim.standing for claim in claims)
    return [(status.name, count[status.name]) for status in reversed(Status) if count[status.name]]


def _facts(claims: Sequence[Explanation]) -> list[tuple[Any, list[str]]]:
    """Everything that any claim trusts, with the claims that trust it."""
    users: dict[str, list[str]] = {}
    for claim in claims:
        for trust in claim.trusted:
            users.setdefault(trust.name, []).append(claim.id)
    return [(trusted(name), users[name]) for name in sorted(users)]
