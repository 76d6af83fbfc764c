"""Claims on machines with one thing broken, which their checks must refute."""
