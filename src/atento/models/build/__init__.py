"""Model names and recipes become modules here."""
