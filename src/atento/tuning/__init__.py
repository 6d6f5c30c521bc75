"""Search over recipes: what may vary, and how the next choice is made."""
