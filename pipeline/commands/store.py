"""``muniment init``, ``status`` and ``config``."""

from typing import Any

import click

from muniment.pipeline.options import Session, command


@command("init")
@click.option("--assets", metavar="URL", help="Keep assets over 64 KiB there: s3://BUCKET/PREFIX.")
@click.option(
    "--assets-cache", type=click.IntRange(min=0), metavar="MB",
    help="What is kept of them on this machine for each scope (2048).",
)  # fmt: skip
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be made; write nothing.")
def init(session: Session, assets: str | None, assets_cache: int | None, dry_run: bool) -> None:
    """Make the root a store with this scope in it."""
    from muniment.store.asset_places import Location, place_of

    workspace = session.workspace()
    location = None if assets is None else Location.parse(assets)
    bound = None if assets_cache is None else assets_cache * 1024**2
    if dry_run:
        from muniment.store import manifest

        state = manifest.state_of(workspace.root)
        if state not in {manifest.RootState.CURRENT, manifest.RootState.UNINITIALIZED}:
            raise manifest.refusal(workspace.root, state)
        made = not workspace.root.scope(workspace.scope).ledger.exists()
    else:
        made = workspace.initialize(location, bound)
    place = place_of(workspace.root)
    known = location if place is None else place.location
    verb = "would make" if dry_run else "made"
    document = {
        "root": str(workspace.root.path),
        "scope": workspace.scope.as_dict(),
        "created": made,
        "assets": None if known is None else known.url,
        "dry_run": dry_run,
    }
    where = f"{workspace.root.path} for {'/'.join(workspace.scope.as_dict().values())}"
    session.output.answer(document, f"{verb} a store at {where}" if made else f"ready: {where}")


@command("status")
def status(session: Session) -> None:
    """Show what the store holds and what is left to do."""
    from muniment.store.status import status as read_status

    workspace = session.workspace()
    document = read_status(workspace.root, workspace.scope, workspace.indexes())
    session.output.answer(document, "\n".join(_lines(document)))


def _lines(document: dict[str, Any], indent: str = "") -> list[str]:
    """Lay a nested document out as indented lines."""
    lines = []
    for name, value in document.items():
        label = name.replace("_", " ")
        if isinstance(value, dict):
            lines += [f"{indent}{label}:", *_lines(value, indent + "  ")] if value else []
        else:
            lines.append(f"{indent}{label}: {'-' if value is None else value}")
    return lines


@command("config")
def config(session: Session) -> None:
    """Show the effective settings and where each came from."""
    from muniment.adapters.indexes.postgres.address import shown

    settings = session.settings
    values = dict(settings.values) | {"root": str(settings.root), "cache": str(settings.cache)}
    if values["index_dsn"]:
        values["index_dsn"] = shown(values["index_dsn"])
    document = {
        name: {"value": list(value) if isinstance(value, tuple) else value,
               "origin": settings.origins[name]}
        for name, value in values.items()
    }  # fmt: skip
    lines = [f"{name} = {entry['value']}  ({entry['origin']})" for name, entry in document.items()]
    session.output.answer(document | {"models": dict(settings.tables.get("models", {}))},
                          "\n".join(lines))  # fmt: skip
