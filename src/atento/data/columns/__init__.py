"""What the columns of a table hold."""
