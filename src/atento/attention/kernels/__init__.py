"""Fast paths for single parts: the same numbers as the formula, in less time and memory."""
