"""What the checks found in the paper on sliding windows, with every number computed.

Source: Sliding-Window Transformers Without Positional Encodings.
"""

from __future__ import annotations

from constructions.machines.precision import WAYS, FrontierCase, frontier, proved_bound
from constructions.machines.relu import WindowSize, parity_network
from constructions.machines.words import PAPER
from constructions.universal.floats import FORMATS
from verify.claims import Source
from verify.findings import finding

_WINDOW = 1024
_HALF = FORMATS["float16"]


@finding(
    id="machines.halting",
    kind="gap",
    source=Source(PAPER, "Theorem 7 and Appendix A, the case q = q_halt"),
    words=r"The case $q=q_{\mathrm{halt}}$ can be assigned any fixed self-loop behavior, since the "
    "simulation is read when the halting control label is reached.",
    claims=("machines.window.halting", "machines.parity.step"),
)
def the_final_queue_loses_its_front() -> str:
    """The halting state forgets the front symbol of the final queue."""
    return """The paper's halting state drops the stored parity, so the queues aa and ba would end
    in the same context. Where it keeps the parity every step of Theorem 7 is as it was, G is
    defined on halting labels, and the whole final queue is read off the context, in ready and in
    refresh form."""


@finding(
    id="machines.constant_parameters",
    kind="gap",
    source=Source(PAPER, "Theorem 9, Remark 5 and the contributions"),
    words="a constant number of learnable parameters",
    claims=(
        "lowerbounds.pieces.parity",
        "lowerbounds.pieces.runs",
        "machines.relu.parity",
        "machines.relu.network",
    ),
)
def no_constant_network_serves_all_windows() -> str:
    """No ReLU network of constant size computes the map G for all windows."""
    size = WindowSize(longest=_WINDOW)
    network = parity_network(1, size.bits, size.scale)
    return f"""In exact arithmetic a ReLU network of D hidden layers of width w gives the parity of
    counts up to S, on a stated line and for a stated machine, only if S <= (w + 1)^D; whole counts
    alone give S + 1 <= 2 (w + 1)^D for any activation in two affine parts, steps included. An
    explicit network of K + 1 hidden layers of 2|Sigma| + 1 neurons does, K the least with S <= 2^K:
    {network.depth} layers for S = {_WINDOW}; the whole map takes one more."""


@finding(
    id="machines.precision",
    kind="sharper",
    source=Source(PAPER, "Theorem 9 and Remark 5"),
    words=r"$O(\log S)$-bit inference precision",
    claims=("machines.precision.frontier", "machines.relu.parity"),
)
def the_bits_depend_on_how_the_mean_is_summed() -> str:
    """How many bits are enough depends on how the mean is summed and the bit is read."""
    found = {
        name: frontier(FrontierCase(format=_HALF, way=WAYS[name], limit=2048)).longest
        for name in ("once", "sequential", "equality")
    }
    bounds = {name: proved_bound(_HALF, WAYS[name]) for name in ("once", "sequential")}
    return f"""log2(S) + 4 digits are enough where the mean is rounded once and the bit is read with
    a margin; summed token by token, the proof needs 2 log2(S) + 3. In float16, of {_HALF.digits}
    digits, windows of {found["once"]} and of {found["sequential"]} symbols are the longest that
    are read rightly ({bounds["once"]} and {bounds["sequential"]} are proved), and windows of
    {found["equality"]} if the bit is read without the margin."""


@finding(
    id="machines.wraparound",
    kind="confirmed",
    source=Source(PAPER, "Remark 5"),
    words="This precision requirement is specific to this particular implementation of the parity "
    "primitive, not to the parity-HIST reduction itself.",
    claims=("machines.precision.wraparound",),
)
def an_f2_primitive_needs_no_growing_precision() -> str:
    """A primitive over F_2 needs no growing precision."""
    return """The XOR of the displayed one-hot vectors is the parity of sem together with the number
    of markers mod 2; with at most one marker these bits and the newest label determine the next
    token, whatever the window's length."""
