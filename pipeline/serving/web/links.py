"""Addresses of the pages, and media that are served beside them."""

from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from muniment.pipeline.serving.web.media import plays
from muniment.pipeline.view.figures import Missing, Pictured, Played

if TYPE_CHECKING:
    from muniment.pipeline.view.exhibits import Exhibit


def to(kind: str, identity: str = "", **query: str | int | None) -> str:
    """Return the address of a page.

    >>> to("asset", "sha256:ab"), to("assets", family="image", before=None)
    ('/asset/ab', '/assets?family=image')
    """
    path = f"/{kind}" + (f"/{quote(identity.removeprefix('sha256:'), safe='')}" if identity else "")
    asked = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(asked)}" if asked else path


class Linked:
    """Media by address: a picture made for the page, a recording played where it is cited."""

    def picture(self, exhibit: "Exhibit") -> Pictured | Missing:
        """Return the address of the picture that the box lies in."""
        return Pictured(address=to("picture", exhibit.observation))

    def player(self, exhibit: "Exhibit") -> Played | Missing:
        """Return the whole recording where browsers play it, else the cited span."""
        media_type = str(exhibit.cited["media_type"])
        if plays(media_type):
            return Played(to("media", exhibit.asset), media_type, whole=True)
        kind = "audio/mp4" if media_type.startswith("audio/") else "video/mp4"
        return Played(to("clip", exhibit.observation), kind)

    def link(self, exhibit: "Exhibit") -> str | None:
        """Return the page of the observation."""
        return to("observation", exhibit.observation)
