"""Tasks that write a text."""
