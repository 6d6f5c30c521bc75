"""The task that learns word vectors."""
