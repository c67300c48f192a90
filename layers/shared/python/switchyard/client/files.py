"""Files of tasks, on this machine."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from switchyard.client.errors import UnsafeName


def saved(name: str, content: Iterable[bytes], folder: Path) -> Path:
    """Save the content below the folder, under the name that it has in the bucket.

    Raise `UnsafeName`. What a broken download leaves has another name.
    """
    target = folder / _inside(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f"{target.name}.part")
    with unfinished.open("wb") as file:
        for piece in content:
            file.write(piece)
    unfinished.replace(target)
    return target


def _inside(name: str) -> PurePosixPath:
    """An agent chose it."""
    path = PurePosixPath(name)
    if path.is_absolute() or not path.parts or ".." in path.parts or "\0" in name:
        raise UnsafeName(name)
    return path
