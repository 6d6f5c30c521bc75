"""A module of the user's own, trained by the same loop."""
