"""Pictures: drawn from a line of words, or read from files; checked, turned upright and cut to a square."""
