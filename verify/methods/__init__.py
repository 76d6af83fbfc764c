"""One way to settle a claim per module; each declares its ceiling."""
