"""Recipes that a user need not write: one file a subject, all defaults of a task in one file."""
