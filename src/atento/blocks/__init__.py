"""Layers made of attention: the Transformer's encoder and decoder layers."""

from atento.blocks.transformer import DecoderLayer, EncoderLayer, Passed, Residual

__all__ = ["DecoderLayer", "EncoderLayer", "Passed", "Residual"]
