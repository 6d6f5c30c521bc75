"""Encoders and decoders of every family."""
