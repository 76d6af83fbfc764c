"""Plain definitions by which `verify/recheck.py` checks what certificates show.

Standard library only, and nothing of the rest of the project: a second reading of the papers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from verify.definitions.chain import check_chain
from verify.definitions.dimension import check_dimension, check_three_heads
from verify.definitions.draws import check_draw_rank
from verify.definitions.encodings import check_encoding
from verify.definitions.independence import check_independence
from verify.definitions.learning import (
    check_dyck_baselines,
    check_dyck_derivations,
    check_dyck_sequences,
    check_dyck_strings,
    check_hop_baselines,
    check_hop_sequences,
    check_hop_strings,
)
from verify.definitions.machines import (
    check_context,
    check_queue_run,
    check_window_run,
    check_words,
)
from verify.definitions.meeting import check_meeting
from verify.definitions.minimal import check_geometry, check_parameters, check_window_cover
from verify.definitions.models import check_simulation
from verify.definitions.normalization import (
    check_large_output,
    check_shifted_output,
    check_zero_input,
)
from verify.definitions.paths import (
    check_factor_moves_out,
    check_factorisation,
    check_independent_paths,
    check_vanishing_paths,
)
from verify.definitions.pieces import check_pieces, check_runs
from verify.definitions.plain import check_equation
from verify.definitions.precision import check_precision_frontier, check_wraparound
from verify.definitions.reencoding import check_reencoded_runs, check_reencoding
from verify.definitions.relu import check_relu_blocks, check_relu_network, check_relu_parity
from verify.definitions.two_types import (
    check_difference,
    check_logistic_derivative,
    check_path_series,
    check_targets_span,
    check_two_types,
)
from verify.definitions.universal import (
    check_block_parameters,
    check_block_width,
    check_fixed_parameters,
    check_folded_parameters,
    check_width,
)

EXHIBITS: dict[str, Callable[[Any], str | None]] = {
    "equation": check_equation,
    "fixed-parameters": check_fixed_parameters,
    "folded-parameters": check_folded_parameters,
    "block-parameters": check_block_parameters,
    "block-width": check_block_width,
    "draw-rank": check_draw_rank,
    "encoding": check_encoding,
    "reencoding": check_reencoding,
    "reencoded-runs": check_reencoded_runs,
    "width": check_width,
    "simulation": check_simulation,
    "factor-moves-out": check_factor_moves_out,
    "factorisation": check_factorisation,
    "vanishing-paths": check_vanishing_paths,
    "independent-paths": check_independent_paths,
    "zero-input": check_zero_input,
    "large-output": check_large_output,
    "shifted-output": check_shifted_output,
    "queue-run": check_queue_run,
    "window-run": check_window_run,
    "context": check_context,
    "words": check_words,
    "relu-parity": check_relu_parity,
    "relu-network": check_relu_network,
    "relu-blocks": check_relu_blocks,
    "pieces": check_pieces,
    "runs": check_runs,
    "two-types": check_two_types,
    "logistic-derivative": check_logistic_derivative,
    "difference": check_difference,
    "path-series": check_path_series,
    "targets-span": check_targets_span,
    "dimension": check_dimension,
    "three-heads": check_three_heads,
    "meeting": check_meeting,
    "independence": check_independence,
    "precision-frontier": check_precision_frontier,
    "wraparound": check_wraparound,
    "chain": check_chain,
    "parameters": check_parameters,
    "window-cover": check_window_cover,
    "geometry": check_geometry,
    "dyck-sequences": check_dyck_sequences,
    "dyck-strings": check_dyck_strings,
    "dyck-derivations": check_dyck_derivations,
    "dyck-baselines": check_dyck_baselines,
    "hop-sequences": check_hop_sequences,
    "hop-strings": check_hop_strings,
    "hop-baselines": check_hop_baselines,
}
"""Checks what an instance shows, by kind; what is left out of it, in words, or None for nothing."""
CERTAINTY = {"draw-rank": ", by Freivalds' test, which errs with probability below 2^-30 each"}
"""What is to be said of definitions that a wrong instance could pass by chance."""
