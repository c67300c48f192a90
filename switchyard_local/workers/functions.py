"""Remembers which functions the local cloud's workers serve, from one `up` to the next."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from switchyard.functions.errors import FunctionsError
from switchyard.functions.packages import content_hash, located
from switchyard_local.errors import CloudError
from switchyard_local.private_file import read_private, write_private
from switchyard_local.say import Say

VARIABLE: Final = "FUNCTIONS"
_PLACES: Final = "places"


def remember_functions(file: Path, places: Sequence[str]) -> None:
    """Check where packages are, and remember them in place of others. Raise `CloudError`."""
    write_private(file, {_PLACES: [_checked(place) for place in places]})


def add_functions(file: Path, places: Sequence[str]) -> None:
    """Remember packages beside the others, in place of those with the same names."""
    added = [_checked(place) for place in places]
    names = {Path(place).name for place in added}
    others = [place for place in _remembered(file) if Path(place).name not in names]
    write_private(file, {_PLACES: [*others, *added]})


def functions_environment(file: Path) -> dict[str, str]:
    """Return the variable of a worker that serves the remembered packages."""
    places = _remembered(file)
    return {VARIABLE: ",".join(places)} if places else {}


def forget_missing(file: Path, say: Say) -> None:
    """Forget packages that are gone: a worker would not start for want of one of them."""
    found = []
    for place in _remembered(file):
        try:
            found.append(_checked(place))
        except CloudError as problem:
            say(f"Functions are no longer served: {problem}")
    if found != _remembered(file):
        write_private(file, {_PLACES: found})


def _remembered(file: Path) -> list[str]:
    places = read_private(file).get(_PLACES, [])
    return [place for place in places if isinstance(place, str)]


def _checked(place: str) -> str:
    """Return the absolute path of a package. Raise `CloudError` if it cannot be served."""
    try:
        package = located(place)
        content_hash(package)
    except (FunctionsError, OSError) as problem:
        raise CloudError(f"{problem}.") from problem
    path = str(package.path)
    if "," in path:
        raise CloudError(f"{path} has a comma in its name, which no worker understands.")
    return path
