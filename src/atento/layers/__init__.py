"""Small parts every model shares: embeddings, positions, feed-forward, norms, padding, losses."""
