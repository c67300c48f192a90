"""What is checked of tasks wherever they come in: with a new job, or added to one."""

from collections.abc import Iterable, Sequence
from typing import Final

from switchyard.contracts.jobs import TaskRequest
from switchyard.contracts.wire import Wire
from switchyard.domain.errors import Problem
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.jobs.plan import Pinned
from switchyard.ports import DefinitionStore

# API Gateway takes 10 MB, a function 6 MB: with the body as a text whose quotes are escaped.
MAX_DOCUMENT_BYTES: Final = 5_000_000


def pinned_definitions(
    tenant: str, specs: Iterable[TaskSpec], definitions: DefinitionStore
) -> dict[str, Pinned]:
    """The definitions as they are now, for good; those that do not exist are left out."""
    known = definitions.latest(tenant, sorted({spec.name for spec in specs}))
    return {name: Pinned(d.version, d.retry.max_attempts) for name, d in known.items()}


def size_problems(request: Wire, tasks: Sequence[TaskRequest]) -> list[Problem]:
    """`tasks` are the request's own."""
    size = len(request.model_dump_json(by_alias=True).encode())
    if size <= MAX_DOCUMENT_BYTES:
        return []
    sizes = [_bytes_of_input(task) for task in tasks]
    largest = max(sizes)
    message = (
        f"has {largest:,} of the {size:,} bytes sent; at most {MAX_DOCUMENT_BYTES:,} are accepted"
    )
    return [Problem(("tasks", sizes.index(largest), "input"), message)]


def _bytes_of_input(task: TaskRequest) -> int:
    return len(task.model_dump_json(include={"input"}).encode())
