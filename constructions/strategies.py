"""Strategies of Hypothesis, for tests and sampled checks of your own.

`from certiformer import strategies` gives this module:

    strategies.sizes(heads=(2, 3), layers=(2, 2))     sizes of transformers
    strategies.targets(size)                          targets with small exact weights
    strategies.matrices(tokens, size.token_width)     inputs X, shape (n, d_in)
    strategies.masks(tokens)                          attention masks
    strategies.machines(states=(2, 4))                Turing machines
    strategies.queue_machines()                       queue machines
    strategies.words(machine.alphabet, longest=8)     their inputs

Bounds are (least, most). Hypothesis is loaded by the first call.
"""

from constructions.machines.random_machines import machines, words
from constructions.machines.random_queues import queue_machines, queue_tables
from constructions.universal.strategies import masks, matrices, sizes, targets

__all__ = [
    "machines",
    "masks",
    "matrices",
    "queue_machines",
    "queue_tables",
    "sizes",
    "targets",
    "words",
]
