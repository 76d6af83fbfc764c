"""Lower bounds, one module per bound."""
