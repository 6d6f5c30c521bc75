"""Images: drawn from a description or loaded from files, checked, rotated upright and scaled to a square.

drawing: scenes of shapes; loading: files to pixels; finding: the images that a table names; reading: images
with captions, labels or questions; videos: frames as series.
"""

from atento.data.images.drawing import Scene, Shape, draw, parse_scene
from atento.data.images.finding import ImageFinder
from atento.data.images.loading import load_image

__all__ = ["ImageFinder", "Scene", "Shape", "draw", "load_image", "parse_scene"]
