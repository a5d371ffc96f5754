"""Pictures as the readers see them."""

from muniment.adapters.media.images import Upright, open_picture
from muniment.adapters.ports import Limits, Source


def open_upright(source: Source, limits: Limits) -> Upright:
    """Return the first frame of a picture, upright and flat."""
    with open_picture(source, limits) as picture:
        return next(picture.frames())
