"""Built-in data sets, generated from a seed.

catalogue: every set by name; builtin: what a set is. The sets: numbers (translation), probes (memory and attention),
texts (classification, language modelling), language (tagging, matching, embedding), scenes (images), signals
(sequences), dynamics (series).
"""

from atento.data.builtin.builtin import Builtin, BuiltinParts
from atento.data.builtin.catalogue import BUILTIN, is_builtin

__all__ = ["BUILTIN", "Builtin", "BuiltinParts", "is_builtin"]
