"""Encoders, decoders and the models built of them."""
