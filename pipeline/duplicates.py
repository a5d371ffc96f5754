"""What a scope holds more than once: groups of the same or of nearly the same, each with why."""

import os
from collections.abc import Iterator
from typing import Any

from muniment.store.ledger import Ledger
from muniment.store.ledger.changes import AssetFacts, Changes

_SHOWN = 50
_CHARACTERS = 60


def groups(ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Yield groups: ``exact``, ``burst``, ``near_image``, ``re_encoded``, ``repeated_message``.

    ``count`` is of all members, of which the first 50 are named.
    """
    known = Changes(ledger.database)
    for asset, paths in ledger.duplicates.seen_twice():
        found = _exact(known, asset, paths, ledger.assets.holders(asset))
        if found["count"] > 1:  # the container of another may have been forgotten
            yield found
    for group in ledger.duplicates.groups():
        facts = known.assets(group.assets[:_SHOWN])
        members = [{"ref": asset, "name": facts[asset].name} for asset in facts]
        yield _group(group.reason, len(group.assets), members)
    for messages in ledger.duplicates.repeated_messages():
        rows = ledger.evidence.live_by_id(messages[:_SHOWN])
        members = [
            {"ref": f"observation:{one}", "name": " ".join(rows[one].text.split())[:_CHARACTERS]}
            for one in messages[:_SHOWN]
        ]
        yield _group("repeated_message", len(messages), members)


def _exact(
    known: Changes, asset: str, paths: list[bytes], holders: list[tuple[str, str]]
) -> dict[str, Any]:
    names = [os.fsdecode(path) for path in paths]
    inside = known.assets(holder for holder, _ in holders)
    names += [
        AssetFacts.below(inside[holder].name, member)
        for holder, member in holders
        if holder in inside
    ]
    return _group("exact", len(names), [{"ref": asset, "name": name} for name in names[:_SHOWN]])


def _group(reason: str, count: int, members: list[dict[str, Any]]) -> dict[str, Any]:
    told = members[0]["name"] if reason == "repeated_message" else _names(members)
    return {
        "ref": members[0]["ref"],
        "reason": reason,
        "count": count,
        "title": f"{count} times: {told}" if reason == "repeated_message" else told,
        "members": members,
    }


def _names(members: list[dict[str, Any]]) -> str:
    return ", ".join(os.path.basename(one["name"]) for one in members)  # noqa: PTH119
