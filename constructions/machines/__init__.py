"""Turing machines, queue machines, parity-HIST and sliding-window transformers, each from the last.

Source: Sliding-Window Transformers Without Positional Encodings, Sections 3 to 5, Appendix A.
"""
