"""How likely a file is meant for each task."""
