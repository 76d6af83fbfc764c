"""Readers and writers of machines, one module per text format."""
