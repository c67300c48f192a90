"""Checks the files that the tasks of a job ask for, as far as its submission shows."""

from collections.abc import Iterator, Sequence
from typing import Final

from switchyard.domain.errors import Problem
from switchyard.domain.fan_out.requests import FOR_EACH, references_of_lists
from switchyard.domain.jobs.condition_parser import references_of_conditions
from switchyard.domain.jobs.files import FileReference
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.prompts.references import Reference
from switchyard.domain.signals.subscriptions import references_of_events
from switchyard.domain.text import did_you_mean

MOST_NAMED: Final = 10


def references_elsewhere(specs: Sequence[TaskSpec]) -> list[tuple[str, Reference]]:
    """Return the tasks that conditions, lists, patterns of events and files refer to, each with the
    task that does.

    Raise `InvalidCondition` for a condition that was not parsed before.
    """
    texts = (references_of_conditions, references_of_lists, references_of_events)
    return [found for references_of in texts for found in references_of(specs)] + [
        (spec.task_id, Reference(path, reference.text, reference.source, ()))
        for spec, path, reference in _asked(specs)
        if not reference.of_the_job
    ]


def file_problems(
    specs: Sequence[TaskSpec], job_files: Sequence[str], *, advice: str = ""
) -> list[Problem]:
    """Find files that the job does not have, and artifacts of tasks that make none.

    `advice` says how the caller gives a job the file `{}`.
    """
    held = {spec.task_id: spec.kind for spec in specs if spec.kind and not spec.fan_out}
    problems = []
    for _, path, reference in _asked(specs):
        if reference.of_the_job:
            if not reference.among(job_files):
                problems.append(Problem(path, _no_such_file(reference, job_files, advice)))
        elif reference.source in held:
            kind = held[reference.source]
            said = f"{reference.text} names {reference.source!r}, a task of kind {kind}"
            problems.append(Problem(path, f"{said}: no worker runs it, and it has no files"))
    return problems


def files_named_by(specs: Sequence[TaskSpec]) -> list[FileReference]:
    """Return every file that the tasks name."""
    return [reference for _, _, reference in _asked(specs)]


def _no_such_file(reference: FileReference, job_files: Sequence[str], advice: str) -> str:
    said = f"{reference.text} names no file of the job"
    if not job_files:
        how = f"; {advice.format(reference.pattern)}" if advice else ""
        return f"{said}, which has none{how}"
    hint = did_you_mean(reference.pattern, job_files)
    named = ", ".join(sorted(job_files)[:MOST_NAMED])
    more = ", …" if len(job_files) > MOST_NAMED else ""
    return f"{said}{hint or f'; it has {named}{more}'}"


def _asked(
    specs: Sequence[TaskSpec],
) -> Iterator[tuple[TaskSpec, tuple[str | int, ...], FileReference]]:
    """Yield every reference of the tasks, with its place in the document."""
    for index, spec in enumerate(specs):
        for number, text in enumerate(spec.files):
            yield spec, ("tasks", index, "files", number), FileReference.parse(text)
        if spec.fan_out is not None and spec.fan_out.in_file:
            path = ("tasks", index, FOR_EACH)
            yield spec, path, FileReference.parse(spec.fan_out.for_each[0])
