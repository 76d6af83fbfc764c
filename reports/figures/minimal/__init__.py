"""The figures of the paper on minimal transformers, drawn from any checkpoint, and one of ours.

values        what the model computes, stage by stage
drawing       pages, legends, names of tokens
cells         tables as cells in colours, with numbers in them
scatter       points with their names
contours      fields over the plane as polygons
labels        places of labels that do not meet
training      Figures 2 to 4
embeddings    Figures 5 and 6
queries       Figures 7 and 8
landscapes    Figures 9 and 10
demo          Figures 11 to 13
predictions   Figures 14 and 15
boxes         the boxes of the compact proof

Source: Fully Interpretable Minimal Transformers, Figures 2 to 15.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from constructions.minimal.files import Checkpoint
from reports.figures.minimal import (
    boxes,
    demo,
    embeddings,
    landscapes,
    predictions,
    queries,
    training,
)
from reports.figures.minimal.drawing import Subject
from reports.figures.minimal.values import DEMO
from reports.figures.svg import Figure
from verify.verdicts import Json

CLAIMS = {"minimal.rule.holds": "windows", "minimal.rule.decided": "paper"}
"""Which shipped checkpoint a page shows beside a claim."""
OF_RECIPE = ("03", "04", boxes.NUMBER)
"""What a page shows of the checkpoint that is not right everywhere."""

_DRAWN: Mapping[str, Callable[[Subject], Figure | None]] = {
    "02": training.training_sequences,
    "03": training.curves,
    "04": training.generated_sequences,
    "05": embeddings.learned,
    "06": embeddings.projected,
    "07": queries.query_key_geometry,
    "08": queries.plus_scores,
    "09": landscapes.per_token,
    "10": landscapes.summary,
}
_OF_DEMO: Mapping[str, Callable[[Subject], Figure | None]] = {
    "11": demo.embeddings,
    "12": demo.queries_and_keys,
    "13": demo.attention,
    "14": predictions.fetched,
    "15": predictions.predicted,
}
NUMBERS = (*_DRAWN, *_OF_DEMO, boxes.NUMBER)


def draw(checkpoint: Checkpoint, name: str, numbers: Collection[str] = NUMBERS) -> Iterator[Figure]:
    """The figures of a checkpoint, in order, named minimal-NAME-NUMBER.

    Without the plan and history of its training the curves are left out, and with a context too
    short for the demo sequence the figures of that.
    """
    subject = Subject(checkpoint=checkpoint, name=name)
    long_enough = checkpoint.model.context >= len(DEMO)
    known: dict[str, Any] = {
        **_DRAWN,
        **(_OF_DEMO if long_enough else {}),
        boxes.NUMBER: boxes.proof,
    }
    for number, drawn in known.items():
        figure = drawn(subject) if number in numbers else None
        if figure is not None:
            yield figure


def of_record(record: Mapping[str, Json]) -> list[Figure]:
    """What a page shows beside claims about the rule: each claim's shipped checkpoint."""
    from constructions.minimal.shipped import shipped

    claims = {claim["id"] for claim in record["claims"]}
    return [
        figure
        for claim, name in CLAIMS.items()
        if claim in claims
        for figure in draw(shipped(name), name, OF_RECIPE if name == "paper" else NUMBERS)
    ]
