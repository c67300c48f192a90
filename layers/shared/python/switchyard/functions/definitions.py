"""Makes task definitions of a package's functions: what `switchyard definitions push` sends."""

import inspect
from dataclasses import dataclass

from pydantic import ValidationError

from switchyard.contracts.definitions import RetryPolicy, TaskDefinition
from switchyard.contracts.problems import validation_problems
from switchyard.functions.errors import FunctionsError
from switchyard.functions.loading import FoundTask, tasks_in
from switchyard.functions.packages import Package, content_hash
from switchyard.functions.schemas import input_schema, output_schema


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionDefinitions:
    """The definitions of all functions of a package, and the hash that they name."""

    package: Package
    code_hash: str
    definitions: dict[str, TaskDefinition]
    """The definitions by name."""


def definitions_of(package: Package) -> FunctionDefinitions:
    """Import a package, and describe each function that `@task` marks. Raise `FunctionsError`."""
    code_hash = content_hash(package)
    found = {task.options.name: _definition(task, code_hash) for task in tasks_in(package)}
    return FunctionDefinitions(package=package, code_hash=code_hash, definitions=found)


def _definition(task: FoundTask, code_hash: str) -> TaskDefinition:
    try:
        return TaskDefinition(
            kind="code",
            description=inspect.getdoc(task.function) or None,
            function=task.reference,
            code_hash=code_hash,
            timeout=task.options.timeout_ms,
            retry=RetryPolicy(max_attempts=task.options.retries + 1),
            input_schema=input_schema(task.function),
            output_schema=output_schema(task.function),
        )
    except ValidationError as error:
        first = validation_problems(error.errors(include_url=False))[0]
        raise FunctionsError(f"{task.reference}: {first}") from error
