"""Claims on learning with one thing broken, which their checks must refute."""
