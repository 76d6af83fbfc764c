"""What is checked of the paper on fixed universal transformers, place by place.

Source: Fixed Universal Transformers.
"""

from __future__ import annotations

from constructions.universal.sums import PAPER
from verify.coverage import EXPERIMENT, NO_CONTENT, Coverage, Entry

_PROBES = ("universal.probes.layer", "universal.paths.unrolling")

UNIVERSAL = Coverage(
    paper=PAPER,
    entries=(
        Entry(
            where="Section 2.1, Standard transformer",
            what="attention-only target: layers, heads, softmax, output",
            claims=("universal.paths.unrolling", "universal.end_to_end"),
        ),
        Entry(
            where="Section 2.2, Universal transformer model",
            what="fixed parameters, embedding E, readout U",
            claims=("universal.probes.layer", "universal.end_to_end"),
        ),
        Entry(
            where="Section 2.2, Looped universal transformer model",
            what="one layer's parameters, unrolled L times",
            claims=("universal.looped.identity", "universal.generic.looped"),
        ),
        Entry(
            where="Theorem 3.1",
            what="0/1 parameters with m-bar coordinates are universal",
            claims=(
                "universal.tree.identity",
                "universal.tree.binary",
                "universal.tree.width",
                "universal.tree.padding",
                "universal.shift.identity",
                "universal.end_to_end",
                "learning.reencoding",
                *_PROBES,
            ),
        ),
        Entry(
            where="Section 3.1, the looped theorem",
            what="0/1 parameters shared by all layers",
            claims=("universal.looped.identity",),
        ),
        Entry(
            where="Section 3.2, the random theorem",
            what="almost every draw is universal",
            claims=("universal.generic.witness", "universal.generic.draws"),
        ),
        Entry(
            where="Section 3.2, the random looped theorem",
            what="almost every weight-tied draw is universal",
            claims=("universal.generic.looped", "universal.generic.draws"),
        ),
        Entry(
            where="Section 3.2, Finite precision",
            what="errors of the sparse and of the random simulation",
            claims=(
                "universal.precision.sparse",
                "universal.precision.generic",
                "universal.enclosure",
            ),
        ),
        Entry(
            where="Section 3.3, MLP blocks",
            what="gated linear units, sparse and random",
            claims=(
                "universal.gated.probe",
                "universal.gated.sparse",
                "universal.gated.generic",
                "universal.gated.width",
            ),
        ),
        Entry(
            where="Section 3.3, Residual connections",
            what="residual blocks, and the width as printed",
            claims=(
                "universal.residual.sparse",
                "universal.residual.generic",
                "universal.residual.width",
            ),
        ),
        Entry(
            where="Section 3.3, Layer normalization",
            what="no fixed post-LayerNorm model is universal",
            claims=(
                "lowerbounds.normalization.bias",
                "lowerbounds.normalization.scale",
                "lowerbounds.normalization.shift",
            ),
        ),
        Entry(
            where="Section 4, Shared-attention universal computation",
            what="the model to which attention matrices are given",
            claims=(
                "lowerbounds.spanning.fixed_readout",
                "lowerbounds.spanning.free_readout",
                "lowerbounds.kernel.fixed_readout",
                "lowerbounds.kernel.free_readout",
            ),
        ),
        Entry(
            where="Theorem 4.1",
            what="the embedding dimension grows like H^(L/2)",
            claims=(
                "lowerbounds.spanning.fixed_readout",
                "lowerbounds.spanning.free_readout",
                "lowerbounds.kernel.fixed_readout",
                "lowerbounds.kernel.free_readout",
                "lowerbounds.spanning.condition",
                "lowerbounds.attention_matching",
                "lowerbounds.independence.all_sizes",
                "lowerbounds.independence.grid",
                "lowerbounds.meeting.tight",
                "lowerbounds.dimension",
                "lowerbounds.three_heads",
            ),
        ),
        Entry(
            where="Section 5.1, Tasks",
            what="parenthesis balancing and k-hop induction heads",
            claims=("learning.dyck.generator", "learning.hops.generator"),
        ),
        Entry(
            where="Table 1",
            what="accuracies of three attention-only models",
            claims=("learning.evaluation.equal",),
            reason=EXPERIMENT,
        ),
        Entry(where="Table 2", what="accuracies with further components", reason=EXPERIMENT),
        Entry(where="Figure 2", what="accuracy against the embedding dimension", reason=EXPERIMENT),
        Entry(
            where="Figure 3",
            what="the columns of E as a tree of heads",
            claims=("universal.tree.identity",),
        ),
        Entry(
            where="Appendix A.1, Equations 1 and 2",
            what="what E must solve for one head per layer",
            claims=("universal.paths.identities", "universal.shift.identity"),
        ),
        Entry(
            where="Appendix A.2, Equations 3 and 4",
            what="what E must solve for several heads",
            claims=("universal.paths.identities", "universal.tree.identity"),
        ),
        Entry(
            where="Appendix A, the unrolling lemmas",
            what="streams as sums over head sequences",
            claims=("universal.paths.unrolling",),
        ),
        Entry(
            where="Lemma E.1",
            what="probe conditions of gated blocks",
            claims=("universal.gated.probe",),
        ),
        Entry(
            where="Appendix E, the sparse theorem",
            what="0/1 gated blocks, counts of ones, padding",
            claims=("universal.gated.sparse", "universal.gated.common_width"),
        ),
        Entry(
            where="Theorem E.3",
            what="almost every gated draw is universal",
            claims=("universal.gated.generic",),
        ),
        Entry(
            where="Appendix E, Residual blocks",
            what="widths, layout, value maps and the random statement",
            claims=(
                "universal.residual.sparse",
                "universal.residual.generic",
                "universal.residual.width",
            ),
        ),
        Entry(where="Appendix E, Scope", what="what is left out", reason=NO_CONTENT),
        Entry(
            where="Appendix H.1",
            what="how the data are generated",
            claims=("learning.dyck.generator", "learning.hops.generator"),
        ),
        Entry(
            where="Table 5",
            what="hyperparameters; m at these sizes",
            claims=("universal.tree.width",),
            reason=EXPERIMENT,
        ),
        Entry(where="Table 6", what="hyperparameters", reason=EXPERIMENT),
    ),
)
