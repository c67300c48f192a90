"""Finds packages of functions, and identifies their content by a hash; imports none of them.

A worker's parent process uses this module: it reads files and never runs what is in them.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from switchyard.functions.errors import FunctionsError, NotFound

GROUP: Final = "switchyard.functions"
"""The entry-point group in which an installed package says that it has functions."""
MAX_FILES: Final = 2_000
MAX_BYTES: Final = 20_000_000
HASH_CHARACTERS: Final = 64
_COMPILED: Final = frozenset({".pyc", ".pyo"})
_CHUNK_BYTES: Final = 1_000_000

Stamp = tuple[tuple[str, int, int], ...]
"""The names, times and sizes of a package's files: equal as long as nothing was written."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package with functions, or a module of one file."""

    name: str
    """The name that it is imported by, without dots."""
    path: Path
    """The package's folder, or the module's file."""

    @property
    def is_folder(self) -> bool:
        return self.path.suffix != ".py"


def located(where: str) -> Package:
    """Find a package by a path or by the name that it is imported by. Raise `FunctionsError`."""
    path = Path(where).expanduser()
    if path.exists() or os.sep in where or where.startswith("."):
        return _at(path)
    return _importable(where)


def installed() -> list[Package]:
    """Return the packages that name themselves as entry points, by name."""
    values = {point.value.partition(":")[0] for point in entry_points(group=GROUP)}
    return [_importable(value) for value in sorted(values)]


def all_located(places: Sequence[str]) -> list[Package]:
    """Return the packages at these places and the installed ones. Raise `FunctionsError`."""
    found: dict[str, Package] = {}
    for package in (*map(located, places), *installed()):
        other = found.setdefault(package.name, package)
        if other.path != package.path:
            raise FunctionsError(
                f"two packages are called {package.name!r}: {other.path} and {package.path}"
            )
    return list(found.values())


def content_hash(package: Package) -> str:
    """Return the hash of a package's files: their names and their bytes, in order of the names.

    Two copies of the same files have the same hash, wherever they are. Raise `FunctionsError`.
    """
    digest = hashlib.sha256()
    for name, path in _files(package):
        digest.update(f"{name}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
    return digest.hexdigest()


def stamp_of(package: Package) -> Stamp:
    """Return a cheap stamp that changes when a package is written to. Raise `FunctionsError`."""
    stats = ((name, path.stat()) for name, path in _files(package))
    return tuple((name, found.st_mtime_ns, found.st_size) for name, found in stats)


def _at(path: Path) -> Package:
    path = path.resolve()
    name = path.stem if path.suffix == ".py" else path.name
    if not path.exists():
        raise NotFound(f"there is no folder {path}")
    if not name.isidentifier():
        raise FunctionsError(f"{path} cannot be imported: {name!r} is not a Python name")
    if path.is_dir() and not (path / "__init__.py").is_file():
        raise FunctionsError(f"{path} is not a package: it has no __init__.py")
    if path.is_file() and path.suffix != ".py":
        raise FunctionsError(f"{path} is neither a package nor a module")
    return Package(name, path)


def _importable(name: str) -> Package:
    top = name.partition(".")[0]
    if not top.isidentifier():
        raise FunctionsError(f"{name!r} is neither a folder nor the name of a package")
    return Package(top, _place_of(_spec(top)))


def _spec(name: str) -> ModuleSpec:
    """Find a package without importing it: only the name of a module inside one would do that."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise NotFound(f"there is no package {name!r}: install it, or give its folder")
    return spec


def _place_of(spec: ModuleSpec) -> Path:
    if spec.origin is None or not spec.origin.endswith(".py"):
        raise FunctionsError(f"{spec.name!r} is not a package of Python files")
    origin = Path(spec.origin).resolve()
    return origin.parent if spec.submodule_search_locations else origin


def _files(package: Package) -> Iterator[tuple[str, Path]]:
    """Yield the files with their names, in order. Raise `FunctionsError` if they are too many."""
    if not package.is_folder:
        yield package.path.name, package.path
        return
    found = sorted(_walked(package.path))
    size = 0
    for number, (name, path) in enumerate(found, start=1):
        size += path.stat().st_size
        if number > MAX_FILES or size > MAX_BYTES:
            raise FunctionsError(
                f"{package.path} has more than {MAX_FILES:,} files or {MAX_BYTES // 1_000_000} MB; "
                "a package of functions holds code and a little data"
            )
        yield f"{package.name}/{name}", path


def _walked(folder: Path) -> Iterator[tuple[str, Path]]:
    for place, folders, files in os.walk(folder):
        here = Path(place)
        folders[:] = [name for name in folders if name[0] != "." and name != "__pycache__"]
        linked = next((here / name for name in folders if (here / name).is_symlink()), None)
        if linked:
            raise FunctionsError(f"{linked} is a link to a folder, which a package cannot have")
        for name in files:
            path = here / name
            if name[0] == "." or path.suffix in _COMPILED:
                continue
            if not stat.S_ISREG(path.stat().st_mode):
                raise FunctionsError(f"{path} is not a file that can be read")
            yield path.relative_to(folder).as_posix(), path
