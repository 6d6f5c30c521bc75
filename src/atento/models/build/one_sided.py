"""Models of one half by the names of a recipe: a classifier and a tagger only read, a language model only writes.

A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT] as in `atento.models.names`. In a Transformer the composition is its
self-attention; a recurrent classifier pools its states by it; elsewhere a recurrent model has none."""

from collections.abc import Callable

from atento.attention.presets import Composition, Sizes
from atento.blocks.pooling import AttentionPooling
from atento.errors import InputError
from atento.models.build.transformer import sizes_of
from atento.models.heads import Head
from atento.models.names import ModelName, ModelPart, require_family
from atento.spec import ModelRecipe

HeadMaker = Callable[[int, int], Head]  # size of a vector, width of the outputs -> head


def attention_pooling(composition: Composition, recipe: ModelRecipe, size: int) -> AttentionPooling:
    """One learned query over all states; it stands nowhere, so no extent has a meaning for it."""
    require_defaults(recipe, "summary")
    if composition.extent != "everything":
        raise InputError(
            f"model {recipe.name!r}: a pooling looks at the whole sequence.",
            found=f"the extent {composition.extent}",
            fix=f"leave {composition.extent!r} out",
        )
    sizes = Sizes(query=size, key=size, longest=recipe.longest, alpha=recipe.alpha)
    return AttentionPooling(size, composition.build(sizes))


def one_part(name: ModelName, kind: str) -> ModelPart:
    """The only part of a name; a second one is refused, and so is one that is no family of sequences."""
    if not name.alone:
        raise InputError(
            f"model {str(name)!r}: {kind} has one half.", found=str(name), fix=f"write {name.encoder} alone"
        )
    require_family(name.decoder, name)
    return name.decoder


def without_suffix(recipe: ModelRecipe, suffix: str) -> ModelRecipe:
    """The same recipe, its name without a suffix."""
    return recipe.model_copy(update={"name": str(ModelName.parse(recipe.name).without(suffix))})


def require_no_attention(part: ModelPart, name: str, why: str) -> None:
    """A recurrent model that does not attend refuses a composition."""
    if part.family != "transformer" and part.attention is not None:
        raise InputError(f"model {name!r}: {why}.", found=name, fix=f"write {part.family}, or transformer")


def require_no_linformer(part: ModelPart, name: str, why: str) -> None:
    """Keys are pressed together where many queries ask all of them."""
    if part.linformer:
        raise InputError(f"model {name!r}: {why}.", found="linformer", fix="leave 'linformer' out")


def require_past(composition: Composition, recipe: ModelRecipe) -> None:
    """An extent that must know the whole sequence has no meaning while it is being written."""
    if not composition.build(sizes_of(recipe)).extent.within_past:
        raise InputError(
            f"model {recipe.name!r}: this extent needs to know where the sequence ends.",
            found=f"the extent {composition.extent}",
            fix=f"leave {composition.extent!r} out",
        )


def require_defaults(recipe: ModelRecipe, *keys: str) -> None:
    """A choice that would change nothing is refused."""
    for key in keys:
        chosen = getattr(recipe, key)
        if chosen != ModelRecipe.model_fields[key].default:
            raise InputError(
                f"model.{key} has no meaning for {recipe.name!r} here.",
                found=f"model.{key}={chosen}",
                fix=f"leave model.{key} out",
            )
