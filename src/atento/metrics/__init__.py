"""How good an output is, with an honest interval around it."""
