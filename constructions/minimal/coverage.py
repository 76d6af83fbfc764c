"""What is checked of the paper on minimal transformers, place by place.

Source: Fully interpretable minimal transformers.
"""

from __future__ import annotations

from verify.coverage import NOT_YET, Coverage, Entry

PAPER = "minimal-transformers"

_FIGURES = (
    "architecture",
    "training sequences",
    "training dynamics",
    "generated sequences",
    "learned embeddings",
    "query, key and value projections",
    "query and key geometry",
    "scores of + queries",
    "output probability landscape",
    "summary of the landscape",
    "embeddings of the demo sequence",
    "queries and keys of the demo sequence",
    "attention of the demo sequence",
    "values of the demo sequence",
    "predictions of the demo sequence",
)

MINIMAL = Coverage(
    paper=PAPER,
    entries=(
        Entry(where="Table 1", what="model hyperparameters", reason=NOT_YET),
        Entry(where="Table 2", what="training hyperparameters", reason=NOT_YET),
        *(
            Entry(where=f"Figure {number}", what=what, reason=NOT_YET)
            for number, what in enumerate(_FIGURES, 1)
        ),
    ),
)
