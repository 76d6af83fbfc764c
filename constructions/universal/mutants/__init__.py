"""Claims on universal transformers with one thing broken, which their checks must refute."""
