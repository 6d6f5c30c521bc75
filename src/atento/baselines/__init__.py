"""The simple models that every comparison holds."""
