"""Describes the functions of Python packages, and registers them as task definitions."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from functools import partial
from typing import TYPE_CHECKING

from switchyard.client.errors import Refused
from switchyard.domain.health.unserved import code_name
from switchyard_cli.actions.retry import until_accepted
from switchyard_cli.errors import BadInput
from switchyard_cli.terminal import clean, notices
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from switchyard.contracts.definitions import RegisteredDefinition
    from switchyard.functions.definitions import FunctionDefinitions
    from switchyard.ports import Clock
    from switchyard_cli.connections.api import Api
    from switchyard_cli.files.beside import LocalParts


def described(place: str | PathLike[str]) -> FunctionDefinitions:
    """Import a package on this machine and describe its functions. Raise `BadInput`."""
    from switchyard.functions.definitions import definitions_of  # noqa: PLC0415 - few jobs have any
    from switchyard.functions.packages import located  # noqa: PLC0415

    with _explained():
        found = located(str(place))
        with redirect_stdout(sys.stderr):  # what the package prints is no part of our answer
            return definitions_of(found)


def names_of_functions(folder: Path, parts: LocalParts) -> set[str]:
    """Return the definitions that packages beside a job file make, as far as they can be read."""
    names: set[str] = set()
    for place in parts.functions:
        with suppress(BadInput):
            names |= set(described(folder / place).definitions)
    return names


def registered(
    found: FunctionDefinitions, api: Api, clock: Clock
) -> Iterator[RegisteredDefinition]:
    """Register the functions of a package, one after another. Raise `BadInput`."""
    for name, definition in found.definitions.items():
        try:
            yield until_accepted(partial(api.put_definition, name, definition), clock)
        except Refused as refused:
            said = "; ".join(map(str, refused.problems)) or str(refused).rstrip(".")
            raise BadInput(f"{definition.function} is refused: {said}.") from refused


def register_all(packages: Iterable[FunctionDefinitions], api: Api, clock: Clock) -> None:
    """Register the functions of packages that come with a job, and say so."""
    for package in packages:
        count = len(list(registered(package, api, clock)))
        code = code_name(package.package.name, package.code_hash)
        said = f"{counted(count, 'function')} of {code} registered"
        notices().print(clean(said), style="dim", soft_wrap=True)


@contextmanager
def _explained() -> Iterator[None]:
    from switchyard.functions.errors import FunctionsError  # noqa: PLC0415 - few jobs have any

    try:
        yield
    except FunctionsError as problem:
        raise BadInput(f"{problem}.") from problem
    except OSError as problem:
        raise BadInput(f"{problem.filename} cannot be read: {problem.strerror}.") from problem
