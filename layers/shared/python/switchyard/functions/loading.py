"""Imports a package of functions from exactly its folder, and finds the functions in it."""

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from switchyard.domain.text import did_you_mean
from switchyard.functions.errors import FunctionsError, NotFound
from switchyard.functions.packages import Package
from switchyard.functions.tasks import TaskOptions, options_of


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTask:
    """A function that `@task` marks, and where it is."""

    reference: str
    """The reference `package.module:name`, as a definition names it."""
    function: Callable[..., Any]
    options: TaskOptions


def load(package: Package) -> ModuleType:
    """Import a package from its own folder, whatever else has its name. Raise `FunctionsError`.

    No folder is added to Python's path, so nothing beside the package can be imported by accident.
    """
    known = sys.modules.get(package.name)
    if known is not None and known.__spec__ and known.__spec__.origin == _origin(package):
        return known
    if known is not None:
        raise FunctionsError(f"the name {package.name!r} is taken by another package")
    places = [str(package.path)] if package.is_folder else None
    spec = importlib.util.spec_from_file_location(
        package.name, _origin(package), submodule_search_locations=places
    )
    if spec is None or spec.loader is None:
        raise NotFound(f"{package.path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[package.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[package.name]
        raise
    return module


def function_named(package: Package, reference: str) -> Callable[..., Any]:
    """Return the function that a definition names. Raise `NotFound`, or what the import raises."""
    load(package)
    module_name, _, name = reference.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and module_name.startswith(error.name):
            raise NotFound(f"{package.name} has no module {module_name!r}") from error
        raise
    found = getattr(module, name, None)
    if options_of(found) is None:
        names = [one for one, value in vars(module).items() if options_of(value)]
        hint = did_you_mean(name, names)
        raise NotFound(f"{module_name} has no function {name!r} that @task marks{hint}")
    function: Callable[..., Any] = found  # type: ignore[assignment]
    return function


def tasks_in(package: Package) -> list[FoundTask]:
    """Import every module of a package; return its tasks by name. Raise `FunctionsError`."""
    found: dict[str, FoundTask] = {}
    for task in _all_in(package):
        other = found.setdefault(task.options.name, task)
        if other.reference != task.reference:
            raise FunctionsError(
                f"two functions are called {task.options.name!r}: {other.reference} and "
                f"{task.reference}; give one of them another name, as in @task(name=…)"
            )
    if not found:
        raise FunctionsError(f"{package.path} has no function that @task marks")
    return [found[name] for name in sorted(found)]


def _all_in(package: Package) -> list[FoundTask]:
    try:
        return [task for module in _modules(package) for task in _marked(module)]
    except FunctionsError:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise FunctionsError(f"{package.name} cannot be imported: {said}") from error


def _origin(package: Package) -> str:
    return str(package.path / "__init__.py" if package.is_folder else package.path)


def _modules(package: Package) -> Iterator[ModuleType]:
    top = load(package)
    yield top
    if not package.is_folder:
        return
    for found in pkgutil.walk_packages(top.__path__, f"{package.name}.", onerror=_raise):
        if not found.name.endswith(".__main__"):
            yield importlib.import_module(found.name)


def _raise(_name: str) -> None:
    """Let the error of a package that cannot be imported through."""
    raise  # noqa: PLE0704 - called by pkgutil while it handles that error


def _marked(module: ModuleType) -> Iterator[FoundTask]:
    for name, value in list(vars(module).items()):
        options = options_of(value)
        if options is None or value.__module__ != module.__name__:
            continue
        yield FoundTask(reference=f"{module.__name__}:{name}", function=value, options=options)
