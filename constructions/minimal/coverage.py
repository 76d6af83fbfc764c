"""What is checked of the paper on minimal transformers, place by place.

Source: Fully Interpretable Minimal Transformers.
"""

from __future__ import annotations

from constructions.minimal.definitions import PAPER
from verify.coverage import NO_CONTENT, Coverage, Entry

_DRAWN = "drawn from the shipped checkpoints"
_DEMO = f"{_DRAWN}; it shows one sequence, of which every window is decided"

MINIMAL = Coverage(
    paper=PAPER,
    entries=(
        Entry(
            where="Figure 1",
            what="architecture: every component in the plane",
            claims=("minimal.parameters",),
            reason="the text at hand has its caption alone; Table 1 fixes the rest as stated",
        ),
        Entry(where="Table 1", what="model hyperparameters", claims=("minimal.parameters",)),
        Entry(
            where="Table 2",
            what="training hyperparameters",
            claims=("minimal.rule.decided",),
            reason="one seed ships; how often a `+` comes, and AdamW's own settings, are open",
        ),
        Entry(where="Figure 2", what="training sequences", reason=_DRAWN),
        Entry(
            where="Figure 3",
            what="training dynamics: loss and rule error",
            claims=("minimal.rule.decided", "minimal.rule.holds"),
            reason=f"curves are {_DRAWN}; the rule is decided on every window",
        ),
        Entry(
            where="Figure 4",
            what="generated sequences before and after training",
            claims=("minimal.rule.decided", "minimal.rule.holds"),
            reason=f"sequences are {_DRAWN}",
        ),
        Entry(where="Figure 5", what="learned embeddings", reason=_DRAWN),
        Entry(where="Figure 6", what="query, key and value projections", reason=_DRAWN),
        Entry(
            where="Figure 7",
            what="query and key geometry",
            claims=("minimal.geometry",),
        ),
        Entry(
            where="Figure 8",
            what="scores of + queries",
            claims=("minimal.geometry",),
        ),
        Entry(
            where="Figure 9",
            what="output probability landscape",
            reason=f"{_DRAWN}; its argmax is what Figure 10 summarises",
        ),
        Entry(
            where="Figure 10",
            what="summary of the landscape: entropy, argmax, embeddings and values",
            claims=("minimal.geometry", "minimal.rule.holds"),
            reason="entropy is drawn; that it is high in an upper half depends on the seed",
        ),
        Entry(where="Figure 11", what="embeddings of the demo sequence", reason=_DEMO),
        Entry(where="Figure 12", what="queries and keys of the demo sequence", reason=_DEMO),
        Entry(
            where="Figure 13",
            what="attention of the demo sequence",
            claims=("minimal.geometry",),
        ),
        Entry(where="Figure 14", what="values of the demo sequence", reason=_DEMO),
        Entry(
            where="Figure 15",
            what="sums of embeddings and attention land where they should",
            claims=("minimal.geometry", "minimal.rule.holds"),
        ),
        Entry(
            where="Abstract, central claim",
            what="the geometry implies an algorithm",
            claims=("minimal.rule.holds", "minimal.built.every_context"),
        ),
        Entry(
            where="Abstract, suite of visualizations",
            what="pictures that make the reading explicit",
            reason=NO_CONTENT,
        ),
    ),
)
