"""Fully interpretable minimal transformers: a model in the plane, and the rule that it runs."""
