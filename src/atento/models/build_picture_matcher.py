"""Matchers of pictures and questions by the names of a recipe.

A name is EYE/READER[+SCORE][+DISTRIBUTION][+co]. `conv/gru` reads both by themselves; in `conv/gru+additive` the
question as a whole asks the picture, and what it finds the question again; in `conv/gru+dot+co` each word looks at the
picture and each region at the question.
"""

from atento.attention.attention import Attention
from atento.attention.presets import Composition, Sizes
from atento.blocks.coattention import AlternatingCoAttention
from atento.errors import InputError
from atento.models.build import CELLS, EYES, Half, build_encoder, cells_of, parse_half
from atento.models.build_matcher import without_co
from atento.models.build_one_sided import HeadMaker, require_defaults, require_no_linformer
from atento.models.build_pictures import parse_eye, picture_encoder
from atento.models.matcher import Verdict
from atento.models.picture_matcher import AskedPicture, CoPicture, PictureMatcher, PictureTowers
from atento.recurrent.stack import Stack
from atento.spec import ModelRecipe


def parse_picture_matcher(name: str) -> tuple[Half, bool]:
    """The half that reads, and whether it and the picture look at each other."""
    seeing, _, reading = name.partition("/")
    if not reading:
        fix = f"write {next(iter(EYES))}/{'gru+dot+co' if seeing.split('+')[0] in EYES else name}"
        raise InputError(f"model {name!r}: one half sees the picture and one reads the question.", found=name, fix=fix)
    if parse_eye(seeing, name).attention is not None:
        raise InputError(
            f"model {name!r}: what sees has no attention; what reads has.",
            found=seeing,
            fix=f"write {seeing.partition('+')[0]}/{reading}",
        )
    plain, together = without_co(reading)
    half = parse_half(plain, name)
    if half.family not in CELLS:
        raise InputError(
            f"model {name!r}: questions are read by a recurrent network.",
            found=half.family,
            fix=f"take one of {', '.join(CELLS)}: {seeing}/gru+dot+co",
        )
    return half, together


def build_picture_matcher(
    recipe: ModelRecipe, vocabulary_size: int, head: HeadMaker, width: int, *, side: int
) -> PictureMatcher:
    """Reads pictures of this side and questions of this vocabulary, and says `width` outputs of each pair."""
    half, together = parse_picture_matcher(recipe.name)
    require_defaults(recipe, "handover", "attend", "characters", "runs")
    require_no_linformer(half, recipe.name, "there are few regions, and nothing to save")
    eye = picture_encoder(recipe, side)
    reader = build_encoder(Half(half.family, None), recipe, vocabulary_size)
    size = recipe.hidden
    if not together and half.attention is None:
        return PictureTowers(eye, reader, Verdict(size, head(size, width), dropout=recipe.dropout))
    require_defaults(recipe, "summary")
    composition = half.attention or Composition("dot")
    if not together:
        opening, across, closing = (between(composition, recipe) for _ in range(3))
        asked = AlternatingCoAttention(size, size, opening=opening, across=across, closing=closing)
        return AskedPicture(eye, reader, asked, Verdict(size, head(size, width), dropout=recipe.dropout))
    looks, back = between(composition, recipe), between(composition, recipe)
    after = Stack(cells_of(half.family, recipe), size, size // recipe.directions, bidirectional=recipe.directions == 2)
    verdict = Verdict(2 * size, head(size, width), dropout=recipe.dropout)
    return CoPicture(eye, reader, looks, back, after, verdict, dropout=recipe.dropout)


def between(composition: Composition, recipe: ModelRecipe) -> Attention:
    """An attention from one side at the other; regions stand in no line, so no extent has a meaning."""
    if composition.extent != "everything":
        raise InputError(
            f"model {recipe.name!r}: a picture's regions stand in no line to look along.",
            found=f"the extent {composition.extent}",
            fix=f"leave {composition.extent!r} out",
        )
    sizes = Sizes(query=recipe.hidden, key=recipe.hidden, longest=recipe.longest, alpha=recipe.alpha)
    return composition.build(sizes)
