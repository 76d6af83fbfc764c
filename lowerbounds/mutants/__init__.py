"""Claims on lower bounds with one thing broken, which their checks must refute."""
