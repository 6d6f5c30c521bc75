"""Generated sets, made anew from a seed each time."""
