"""Claims on minimal transformers with one thing broken, which their checks must refute."""
