"""Names the tasks of a template as its other tasks call them."""

from collections.abc import Mapping, Sequence

from switchyard.domain.ids import in_scope, local_name


def as_called_by(
    task_id: str, follows: Mapping[str, Sequence[str]]
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Return the parents of a task, and those of all that it may refer to, as it calls them.

    `follows` has the parents of all tasks of the job, by their ids.
    """
    parents = follows[task_id]
    scope = parents[0].rpartition("[")[0] if parents else ""
    beside = {name for name in follows if name == in_scope(scope, local_name(name))}
    declared = {local_name(name): _named(follows[name]) for name in beside}
    return _named(parents), declared


def _named(ids: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(local_name, ids))
