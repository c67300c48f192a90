"""Packages that import a part of themselves only when a name of it is used."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def on_demand(package: str, parts: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package with these names in these parts of it."""
    part_of = {name: part for part, names in parts.items() for name in names}

    def look_up(name: str) -> Any:
        if name not in part_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{part_of[name]}"), name)

    return look_up
