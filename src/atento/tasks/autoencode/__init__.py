"""The task that compresses windows of series."""
