"""Filters as SQL conditions on the document table, with their named values."""

from typing import Any

from muniment.store.index.documents import FILTER_COLUMNS, Filters

_BOUNDS = {
    "since": "d.instant >= :since",
    "until": "d.instant < :until",
    "min_confidence": "d.confidence >= CAST(:min_confidence AS double precision)",
    "path": "strpos(d.path, :path) > 0",
    "path_prefix": "starts_with(d.path, :path_prefix)",
}


def conditions(filters: Filters | None) -> tuple[str, dict[str, Any]]:
    """Return conditions on the document table ``d``, each led by AND, and their values."""
    if filters is None:
        return "", {}
    parts: list[str] = []
    values: dict[str, Any] = {}
    for name, column in FILTER_COLUMNS.items():
        wanted = getattr(filters, name)
        if wanted:
            parts.append(f"d.{column} = ANY(CAST(:{name} AS text[]))")
            values[name] = [storable(one) for one in wanted]
    for name, condition in _BOUNDS.items():
        value = getattr(filters, name)
        if value is not None:
            parts.append(condition)
            values[name] = storable(value)
    return "".join(f" AND {part}" for part in parts), values


def storable(value: Any) -> Any:
    """Return a value as the server takes it: a name that is no UTF-8 loses what is not."""
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "replace").decode().replace("\0", "␀")
