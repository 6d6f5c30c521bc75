"""Tasks that give labels."""
