"""The page of a run: one file, readable without a network, rebuilt from the record alone."""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from reports import graph, mathml
from reports.experiments.gathered import Experiments
from reports.figures.svg import Figure
from reports.mutation_page import mutants_of
from reports.record import outcome_of
from verify.facts import FACTS
from verify.verdicts import Json, Status

INDEX = "index.html"
LEAST_ZOOM = 0.8
"""A drawing is scaled down to this at most; beyond it, it scrolls."""
LINE = 100
"""Data longer than this is shown on several lines."""

MEANINGS = {
    "PROVED": "holds for every instance that the statement speaks of",
    "BOUNDED": "holds for every instance up to the stated bound",
    "SAMPLED": "no counterexample among the stated number tried",
    "UNKNOWN": "gave up, timed out, engines disagree, or nothing was checked",
    "REFUTED": "a counterexample was found and replayed on the original object",
    "BROKEN": "the check itself crashed",
}
LETTERS = {name: "X" if name == "BROKEN" else name[0] for name in MEANINGS}
_CERTIFICATE = re.compile(r"certificates/[0-9a-f]{64}\.json")
_PLAIN = frozenset("worlds checked tried seed shard counterexample text reason".split())
_GOAL = {"name": str, "role": str, "conclusion": str, "assumptions": list, "answers": dict}
_THEORY = {"name": str, "axioms": list}
_AXIOM = {"name": str, "gloss": str, "formula": str}


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
    from markupsafe import Markup

    claims = [_claim(record, claim, _seconds(run)) for claim in record["claims"]]
    for claim in claims:
        formula = mathml.convert(claim["latex"]) if claim["latex"].strip() else None
        claim["mutants"] = mutants_of(mutants, claim)
        claim["formula"] = None if formula is None else Markup(formula)  # noqa: S704 - escaped
    return _filled(
        "index.html",
        graph.connected(record["claims"]),
        record=record,
        claims=claims,
        papers=_papers(claims),
        counts=_counts(claims),
        unreached=[claim for claim in claims if claim["outcome"] != "ok"],
        by_id={claim["id"]: claim for claim in claims},
        facts=_facts(claims),
        command=_command(record, record["selectors"]),
        meanings=MEANINGS,
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
        tables=experiments.tables,
        curves=_inline(experiments.figures),
        saved=False,
    )


def _filled(name: str, drawings: tuple[graph.Drawing, graph.Drawing], **parts: Any) -> bytes:
    """A page of a template and its parts, with the style sheet that its policy names."""
    import jinja2
    from markupsafe import Markup

    environment: Any = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["pretty"] = _pretty
    layered, loose = drawings
    style = environment.get_template("style.css").render(
        layered=layered, loose=loose, least=LEAST_ZOOM
    )
    text = environment.get_template(name).render(
        drawings=drawings,
        style=Markup(style),  # noqa: S704 - our own style sheet
        style_hash=base64.b64encode(sha256(style.encode()).digest()).decode(),
        **parts,
    )
    return text.encode("utf-8", "replace")


def _inline(figures: Sequence[Figure]) -> list[tuple[str, str, Any]]:
    """Name, caption and drawing of each figure."""
    from markupsafe import Markup

    return [
        (figure.name, figure.caption, Markup(figure.inline))  # noqa: S704 - our own drawing
        for figure in figures
    ]


def _pretty(value: Json) -> str:
    line = json.dumps(value, sort_keys=True, ensure_ascii=False)
    if len(line) <= LINE:
        return line
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)


def _claim(
    record: Mapping[str, Json], claim: Mapping[str, Json], seconds: Mapping[tuple[str, int], float]
) -> dict[str, Any]:
    checks: list[Mapping[str, Json]] = claim["checks"]
    return {
        **claim,
        "outcome": outcome_of(claim),
        "command": _command(record, [claim.get("file") or claim["id"]]),
        "trusted": [_trusted(name) for name in claim["trusts"]],
        "checks": [
            {
                **check,
                "link": _certificate(check["certificate"]),
                **_evidence(check["evidence"]),
                "seconds": seconds.get((claim["id"], index)),
            }
            for index, check in enumerate(checks)
        ],
    }


def _evidence(evidence: Mapping[str, Json]) -> dict[str, Json]:
    """Evidence as the page shows it: what has a known form apart, the rest as it stands."""
    goals = _objects(evidence.get("goals"), _GOAL)
    theories = _objects(evidence.get("theories"), _THEORY)
    if any(len(_objects(item["axioms"], _AXIOM)) < len(item["axioms"]) for item in theories):
        theories = []
    equations = evidence.get("equations")
    known: dict[str, Json] = {
        "goals": goals,
        "theories": theories,
        "equations": equations if isinstance(equations, list) else [],
    }
    apart = _PLAIN | {key for key, rows in known.items() if rows}
    return {
        **known,
        "solvers": sorted({solver for goal in goals for solver in goal["answers"]}),
        "rest": {key: part for key, part in sorted(evidence.items()) if key not in apart},
    }


def _objects(rows: Json, fields: Mapping[str, type]) -> list[dict[str, Json]]:
    """The rows, if they are a list of objects that all have these fields, else none."""
    found: list[dict[str, Json]] = []
    for row in cast("list[Json]", rows) if isinstance(rows, list) else []:
        item = cast("dict[str, Json]", row if isinstance(row, dict) else {})
        if not all(isinstance(item.get(name), kind) for name, kind in fields.items()):
            return []
        found.append(item)
    return found


def _seconds(run: Mapping[str, Json] | None) -> dict[tuple[str, int], float]:
    rows: list[Mapping[str, Json]] = (run or {}).get("checks", [])
    return {(row["claim"], row["check"]): float(row["seconds"]) for row in rows}


def _trusted(name: str) -> dict[str, Json]:
    """What stands behind a name such as `solver:z3` or `fact:induction`."""
    kind, _, rest = name.partition(":")
    fact = next((fact for fact in FACTS if fact.trust == name), None)
    return {
        "name": name,
        "kind": kind,
        "rest": rest,
        "statement": fact.statement if fact else None,
        "reference": fact.reference if fact else None,
    }


def _certificate(path: Json) -> str | None:
    return path if isinstance(path, str) and _CERTIFICATE.fullmatch(path) else None


def _papers(claims: Sequence[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    names = sorted({claim["source"]["paper"] for claim in claims})
    return [(name, [c for c in claims if c["source"]["paper"] == name]) for name in names]


def _counts(claims: Sequence[dict[str, Any]]) -> list[tuple[str, int]]:
    count = Counter(claim["standing"] for claim in claims)
    return [(status.name, count[status.name]) for status in reversed(Status) if count[status.name]]


def _facts(claims: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Json], list[str]]]:
    """Everything that any claim trusts, with the claims that trust it."""
    names = sorted({name for claim in claims for name in claim["trusts"]})
    return [(_trusted(name), [c["id"] for c in claims if name in c["trusts"]]) for name in names]


def _command(record: Mapping[str, Json], selectors: Sequence[str]) -> str:
    if isinstance(own := record.get("command"), str):  # what another command than verify wrote
        return own
    words = ["certiformer", "verify", *selectors]
    if record["profile"] != "standard":
        words += ["--profile", str(record["profile"])]
    if record["seed"]:
        words += ["--seed", str(record["seed"])]
    return shlex.join(words)
