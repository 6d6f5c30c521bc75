"""Fast paths: the context of attention without the full matrix of weights."""
