"""What is checked of the paper on sliding windows, place by place.

Source: Sliding-Window Transformers Without Positional Encodings.
"""

from __future__ import annotations

from constructions.machines.words import PAPER
from verify.coverage import NO_CONTENT, Coverage, Entry

MACHINES = Coverage(
    paper=PAPER,
    entries=(
        Entry(
            where="Theorem 1",
            what="a HIST model is Turing complete, in outline",
            claims=("machines.parity.step", "machines.chain"),
        ),
        Entry(
            where="Theorem 2",
            what="a sliding-window transformer without PE simulates it, in outline",
            claims=("machines.window.ready", "machines.window.refresh", "machines.chain"),
        ),
        Entry(
            where="Figure 1",
            what="the dropped token recovered by XOR",
            claims=("machines.parity.recovers",),
        ),
        Entry(
            where="Remark 3",
            what="the next token ignores the order of older tokens",
            claims=("machines.window.permutation",),
        ),
        Entry(
            where="Remark 4",
            what="update bits that grow or slide the window",
            claims=("machines.window.ready", "machines.window.bounds"),
        ),
        Entry(
            where="Remark 5",
            what="precision belongs to the parity primitive alone",
            claims=("machines.precision.frontier", "machines.precision.wraparound"),
        ),
        Entry(
            where="Section 3.1, Post machine",
            what="queue machines: front symbol, one or two appended symbols",
            claims=("machines.turing.queue", "machines.chain"),
        ),
        Entry(
            where="Theorem 6",
            what="queue machines simulate Turing machines in O(t s) steps and O(s) space",
            claims=("machines.turing.queue",),
            reason="cited by the paper; constants are checked on a stated range, not for all "
            "machines",
        ),
        Entry(
            where="Section 3.2, Transformers without PE",
            what="embedding, attention, MLP, argmax, adaptive window",
            claims=("machines.window.histogram", "machines.window.decodes"),
        ),
        Entry(
            where="Section 4, the HIST model",
            what="transitions on histograms, and on their parities",
            claims=("machines.parity.step", "machines.words.laws"),
        ),
        Entry(
            where="Theorem 7",
            what="parity-HIST simulates queue machines step by step",
            claims=("machines.parity.recovers", "machines.parity.step"),
        ),
        Entry(
            where="Corollary 8",
            what="HIST models are Turing complete",
            claims=("machines.parity.step", "machines.turing.queue", "machines.chain"),
        ),
        Entry(
            where="Theorem 9",
            what="a sliding-window transformer simulates parity-HIST with context S + 1",
            claims=(
                "machines.window.histogram",
                "machines.window.decodes",
                "machines.window.ready",
                "machines.window.refresh",
                "machines.window.bounds",
                "machines.window.halting",
                "machines.relu.parity",
                "machines.relu.network",
                "machines.relu.blocks",
                "machines.precision.frontier",
                "lowerbounds.pieces.parity",
                "lowerbounds.pieces.runs",
            ),
        ),
        Entry(
            where="Section 5, Embeddings and attention matrices",
            what="one-hot blocks, zero Q and K, V copies the displayed block",
            claims=("machines.window.histogram",),
        ),
        Entry(
            where="Section 5, The MLP layer",
            what="counts as ratios, their parities",
            claims=("machines.window.histogram", "machines.relu.parity"),
        ),
        Entry(
            where="Corollary 10",
            what="O(t s) tokens and context O(s) for a Turing machine",
            claims=("machines.chain", "machines.turing.queue", "machines.window.bounds"),
            reason="the whole chain is run on a corpus; its parts above Theorem 6 are proved for "
            "all machines",
        ),
        Entry(
            where="Section 6",
            what="limitations and an open question",
            reason=NO_CONTENT,
        ),
        Entry(
            where="Appendix A, The MLP layer",
            what="the map G, case by case",
            claims=("machines.window.decodes", "machines.relu.network"),
        ),
        Entry(
            where="Appendix A, Correctness of Simulation",
            what="ready and refresh form, one- and two-symbol appends",
            claims=("machines.window.ready", "machines.window.refresh", "machines.words.laws"),
        ),
    ),
)
