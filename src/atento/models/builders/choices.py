"""Choices of a recipe that many models share, and refusals of choices that would have no effect.

The errors of this package name recipe keys and model names, as it is the place where both become objects.
"""

from collections.abc import Callable

from atento.attention.attention import Attention
from atento.attention.linformer import Linformer
from atento.attention.presets import Composition, Sizes
from atento.blocks.pooling import AttentionPooling
from atento.errors import InputError
from atento.models.forecaster import SeriesSizes
from atento.models.heads import Head
from atento.models.names import ModelName, ModelPart, require_family
from atento.models.summaries import SUMMARIES, Summary
from atento.spec import ModelRecipe

HeadMaker = Callable[[int, int], Head]  # size of a vector, width of the outputs -> head


def summary_of(recipe: ModelRecipe, *, auto: str) -> Summary:
    """The summary that model.pooling names, or the one named `auto`; attention pools in classifiers alone."""
    if recipe.pooling == "attention":
        raise InputError(
            "model.pooling=attention pools the states of a classifier.",
            found="model.pooling=attention",
            fix="leave it out, or take last, mean or max",
        )
    return SUMMARIES[auto if recipe.pooling == "auto" else recipe.pooling]


def attention_sizes(recipe: ModelRecipe, query: int, key: int, *, heads: int = 1) -> Sizes:
    """The sizes of an attention between vectors of these widths."""
    return Sizes(
        query=query,
        key=key,
        reach=recipe.window,
        heads=heads,
        block=recipe.block,
        max_length=recipe.max_length,
        alpha=recipe.alpha,
    )


def with_linformer(attention: Attention, part: ModelPart, recipe: ModelRecipe) -> Attention:
    """The attention, of projected keys where the part names linformer."""
    return Linformer(attention, recipe.max_length, recipe.linformer_rank) if part.linformer else attention


def attention_pooling(composition: Composition, recipe: ModelRecipe, size: int) -> AttentionPooling:
    """A pooling by one learned query, which has no position, so that an extent is refused."""
    require_defaults(recipe, "pooling")
    if composition.extent != "everything":
        raise InputError(
            f"model {recipe.name!r}: a pooling attends to the whole sequence.",
            found=f"the extent {composition.extent}",
            fix=f"leave {composition.extent!r} out",
        )
    return AttentionPooling(size, composition.build(attention_sizes(recipe, size, size)))


def state_pooling(part: ModelPart, recipe: ModelRecipe, size: int) -> AttentionPooling | None:
    """The attention pooling that a recurrent name with a composition has; a Transformer's composition is its own."""
    if part.added_attention is None:
        return None
    require_no_linformer(part, recipe.name, "a pooling has one query, so that linformer would save nothing")
    return attention_pooling(part.added_attention, recipe, size)


def patch_of(recipe: ModelRecipe, sizes: SeriesSizes, *, patches: int) -> int:
    """The steps of a patch: model.patch, or a window of so many patches, or one step in a recursive forecaster."""
    chosen = 1 if recipe.strategy == "recursive" else -(-sizes.look_back // patches)
    return min(recipe.patch or chosen, sizes.look_back)


def one_part(name: ModelName, kind: str) -> ModelPart:
    """The only part of a name; a second part and an unknown family are refused."""
    if not name.alone:
        raise InputError(
            f"model {str(name)!r}: {kind} has one part, not ENCODER/DECODER.",
            found=str(name),
            fix=f"write {name.encoder} alone",
        )
    require_family(name.decoder, name)
    return name.decoder


OF_LANGUAGE_MODELS = (
    "locked_dropout",
    "recurrent_dropout",
    "embedding_dropout",
    "activation_penalty",
    "temporal_penalty",
    "sampled_softmax",
)  # keys that other models refuse


def without_suffix(recipe: ModelRecipe, suffix: str) -> ModelRecipe:
    """The same recipe, its name without a suffix."""
    return recipe.model_copy(update={"name": str(ModelName.parse(recipe.name).without(suffix))})


def require_defaults(recipe: ModelRecipe, *keys: str, why: str = "") -> None:
    """Refuse a choice that would change nothing."""
    for key in keys:
        chosen = getattr(recipe, key)
        if chosen != ModelRecipe.model_fields[key].default:
            raise InputError(
                f"model {recipe.name!r}: model.{key} has no meaning here{f'; {why}' if why else ''}.",
                found=f"model.{key}={chosen}",
                fix=f"leave model.{key} out",
            )


def require_no_attention(part: ModelPart, name: str, why: str) -> None:
    """Refuse a composition in a recurrent model without attention."""
    if part.added_attention is not None:
        raise InputError(f"model {name!r}: {why}.", found=name, fix=f"write {part.family}, or transformer")


def require_no_linformer(part: ModelPart, name: str, why: str) -> None:
    """Refuse linformer where it would save nothing or has no meaning."""
    if part.linformer:
        raise InputError(f"model {name!r}: {why}.", found="linformer", fix="leave 'linformer' out")
