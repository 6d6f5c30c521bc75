"""Models of one half by the names of a recipe: a classifier and a tagger only read, a language model only writes.

A name is FAMILY[+SCORE][+DISTRIBUTION][+EXTENT] as in `atento.models.build`. In a Transformer the composition is its
self-attention; a recurrent classifier pools its states by it; elsewhere a recurrent model has none.
"""

from collections.abc import Callable

from atento.attention.presets import Composition, Sizes
from atento.blocks.pooling import AttentionPooling
from atento.errors import InputError
from atento.models.build import Half, parse_half
from atento.models.build_transformer import sizes_of
from atento.models.heads import Head
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


def parse_one(name: str, kind: str) -> Half:
    """The one half of a name."""
    if "/" in name:
        raise InputError(
            f"model {name!r}: {kind} has one half.", found=name, fix=f"write {name.partition('/')[0]} alone"
        )
    return parse_half(name, name)


def require_no_attention(half: Half, name: str, why: str) -> None:
    """A recurrent model that does not attend refuses a composition."""
    if half.family != "transformer" and half.attention is not None:
        raise InputError(f"model {name!r}: {why}.", found=name, fix=f"write {half.family}, or transformer")


def require_no_linformer(half: Half, name: str, why: str) -> None:
    """Keys are pressed together where many queries ask all of them."""
    if half.linformer:
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
