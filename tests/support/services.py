"""What the tests of real services share."""

from types import ModuleType
from typing import Any

import pytest


def library(name: str) -> ModuleType:
    """Import a library that a service needs, or skip with its name."""
    found: Any = pytest.importorskip(name, reason=f"{name} is not installed: make test-services")
    assert isinstance(found, ModuleType)
    return found
