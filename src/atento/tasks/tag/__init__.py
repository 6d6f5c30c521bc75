"""The task that gives each word a tag."""
