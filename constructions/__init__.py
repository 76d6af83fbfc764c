"""The papers' constructions, one subfolder per paper and one module per theorem."""
