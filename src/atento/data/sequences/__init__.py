"""Labelled numeric sequences: the formats they come in, and how each becomes a row of a sequence and its label."""
