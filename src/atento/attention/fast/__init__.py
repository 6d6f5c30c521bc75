"""Fast paths: attention computed without the whole matrix of weights."""
