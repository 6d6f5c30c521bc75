"""What a run is told: recipes and their keys."""

from atento.spec.durations import parse_duration
from atento.spec.recipe import (
    DEFAULT,
    Chosen,
    Recipe,
    keys,
    parse_settings,
    read_reasons,
    read_recipe,
    read_values,
    require_key,
)
from atento.spec.sections import DataRecipe, DecodeRecipe, ModelRecipe, TokensRecipe, TrainRecipe

__all__ = [
    "DEFAULT",
    "Chosen",
    "DataRecipe",
    "DecodeRecipe",
    "ModelRecipe",
    "Recipe",
    "TokensRecipe",
    "TrainRecipe",
    "keys",
    "parse_duration",
    "parse_settings",
    "read_reasons",
    "read_recipe",
    "read_values",
    "require_key",
]
