"""Complete ids in a shell: what the store holds that begins as typed, the newest first."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

    Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

MOST = 40
_HELP_CHARACTERS = 60
# Ids carry their kind. The form kind:id is not offered: bash takes a colon for the end of a word.
_PREFIXES = {"record": "rec_", "candidate": "cand_", "episode": "ep_", "entity": "ent_",
             "observation": "obs_", "session": ""}  # fmt: skip


def completes(*kinds: str, files: bool = False) -> "Complete":
    """Return a completion of ids of some kinds; of names of files, too, where one may be meant."""

    def complete(
        context: "click.Context", _parameter: "click.Parameter", typed: str
    ) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        fitting = [kind for kind in kinds if _fits(_PREFIXES[kind], typed)]
        found = [
            CompletionItem(identity, help=_one_line(label))
            for identity, label in _held(context, fitting, typed)
        ]
        return found or ([CompletionItem(typed, type="file")] if files else [])

    return complete


def _fits(prefix: str, typed: str) -> bool:
    return typed.startswith(prefix) or prefix.startswith(typed)


def _held(context: "click.Context", kinds: list[str], typed: str) -> list[tuple[str, str]]:
    """Ask the store that the line so far names; one that can't be read offers nothing."""
    from muniment.pipeline.options import Session
    from muniment.store.errors import MunimentError
    from muniment.store.ledger.browsing import Browsing

    flags: dict[str, Any] = {}
    at: click.Context | None = context
    while at is not None:
        flags |= {name: value for name, value in at.params.items() if value is not None}
        at = at.parent
    try:
        with Session(flags | {"lock_wait": 0.0}).workspace().reading() as ledger:
            browsing = Browsing(ledger.database)
            return [one for kind in kinds for one in browsing.beginning(kind, typed, MOST)]
    except MunimentError:
        return []


def _one_line(label: str) -> str:
    from muniment.pipeline.output import printable

    flat = " ".join(label.split())
    cut = flat if len(flat) <= _HELP_CHARACTERS else flat[: _HELP_CHARACTERS - 1] + "…"
    return printable(cut, one_line=True)
