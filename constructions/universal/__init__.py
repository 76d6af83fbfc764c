"""Fixed Universal Transformers: one transformer with fixed parameters simulates a whole class."""
