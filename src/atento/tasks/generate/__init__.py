"""The task that models plain text."""
