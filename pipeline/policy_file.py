"""Read ``policy.toml``, in which the user says what may become memory by itself (CONTRACT 4.2)."""

import os
import tomllib
from typing import Any, get_args

from muniment.pipeline.policy import (
    LEAST_CONFIDENCE,
    OFFERED_RULES,
    SUPPORTED_RULES,
    Allowance,
    Policy,
)
from muniment.store import files
from muniment.store.errors import UsageError
from muniment.store.layout import ScopePaths
from muniment.store.records import MemoryKind, Origin

_TABLE = {"rules", "allow"}
_ALLOWANCE = {"proposer", "kind", "origin", "least_confidence"}
_CHOICES = {"kind": get_args(MemoryKind), "origin": get_args(Origin)}


def load_policy(paths: ScopePaths) -> Policy:
    """Return the policy of a scope, the default one where the user wrote none.

    Raises ``UsageError`` with code ``bad_policy`` for a file that does not say exactly what it
    wants: nothing is guessed about what may activate.
    """
    if not paths.policy.exists():
        return Policy()
    name = os.fsdecode(paths.policy)
    try:
        with files.open_reading(paths.policy) as stream:
            table = tomllib.load(stream)
    except OSError as error:
        raise _bad(f"the policy can't be read: {error.strerror}", name) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _bad(f"the policy is not valid TOML: {error}", name) from error
    return _policy(table, name)


def _policy(table: dict[str, Any], name: str) -> Policy:
    _known(table, _TABLE, "the policy", name)
    rules = table.get("rules", sorted(SUPPORTED_RULES))
    if not isinstance(rules, list) or not set(rules) <= OFFERED_RULES:
        raise _bad(f"rules must be a list of: {', '.join(sorted(OFFERED_RULES))}", name)
    allowed = table.get("allow", [])
    if not isinstance(allowed, list):
        raise _bad("allowances are written as [[allow]] tables", name)
    return Policy(frozenset(rules), tuple(_allowance(one, name) for one in allowed))


def _allowance(table: Any, name: str) -> Allowance:
    if not isinstance(table, dict) or "proposer" not in table:
        raise _bad("each [[allow]] names a proposer", name)
    _known(table, _ALLOWANCE, "[[allow]]", name)
    for key, choices in _CHOICES.items():
        if table.get(key, "*") not in ("*", *choices):
            raise _bad(f"{key} must be * or one of: {', '.join(choices)}", name)
    least = table.get("least_confidence", LEAST_CONFIDENCE)
    if isinstance(least, bool) or not isinstance(least, int | float) or not 0 < least <= 1:
        raise _bad("least_confidence must be above 0 and at most 1", name)
    if not isinstance(table["proposer"], str):
        raise _bad("proposer must be a name, or * for all", name)
    return Allowance(**{**table, "least_confidence": float(least)})


def _known(table: dict[str, Any], names: set[str], where: str, path: str) -> None:
    unknown = sorted(table.keys() - names)
    if unknown:
        raise _bad(f"{where} has no {unknown[0]!r}; it has {', '.join(sorted(names))}", path)


def _bad(message: str, path: str) -> UsageError:
    hint = "correct it, or remove it for the default policy"
    return UsageError(message, code="bad_policy", hint=hint, path=path)
