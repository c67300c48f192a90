"""Sends a file: first the definitions it brings along, then its job, or the tasks for one."""

from functools import partial

from cli.api import Api
from cli.errors import InvalidFile
from cli.files.document import Document
from cli.files.job_file import Definitions, SourcedAddition, SourcedJob
from cli.files.yaml_source import Place
from cli.patience import until_accepted
from cli.terminal import clean, notices
from cli.wording import counted
from switchyard.client.errors import PAUSE_SECONDS, Refused, Unreachable
from switchyard.client.patience import patiently
from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.contracts.jobs import JobAccepted, SubmitJob, TasksAdded
from switchyard.domain.errors import Problem
from switchyard.ports import Clock


def submit(job: SourcedJob, api: Api, *, key: str, clock: Clock) -> JobAccepted:
    register(job.document, job.content.definitions, api, clock=clock)
    try:
        return _sent(job.content.submission(), api, key, clock)
    except Refused as refused:
        raise _on_its_lines(refused, job.document) from refused


def add(addition: SourcedAddition, job_id: str, api: Api, *, clock: Clock) -> TasksAdded:
    """What is in the job counts as added: so the same is sent until all of it is."""
    register(addition.document, addition.content.definitions, api, clock=clock)
    tasks = addition.content.addition()
    before, come_to = -1, 0
    try:
        while come_to > before:
            added = until_accepted(lambda: api.add(job_id, tasks), clock, also=(Unreachable,))
            before, come_to = come_to, len(added.added_tasks)
            if not added.try_again:
                break
            _tell_progress(added, len(tasks.tasks))
    except Refused as refused:
        raise _on_its_lines(refused, addition.document) from refused
    return added


def _tell_progress(added: TasksAdded, wanted: int) -> None:
    said = f"{len(added.added_tasks):,} of {counted(wanted, 'task')} are in: {added.problem}."
    notices().print(clean(said), style="dim", soft_wrap=True)


def _sent(job: SubmitJob, api: Api, key: str, clock: Clock) -> JobAccepted:
    """An answer that is lost may be that of a job which was accepted: ask once more for it."""
    return patiently(lambda: api.submit(job, key=key), clock, seconds=PAUSE_SECONDS)


def register(
    document: Document, definitions: Definitions, api: Api, *, clock: Clock
) -> list[RegisteredDefinition]:
    """An unchanged definition keeps its version, so doing this again is harmless."""
    registered = []
    for name, definition in definitions.items():
        put = partial(api.put_definition, name, definition)
        try:
            registered.append(until_accepted(put, clock))
        except Refused as refused:
            raise _on_its_lines(refused, document, ("definitions", name)) from refused
    return registered


def _on_its_lines(
    refused: Refused, document: Document, prefix: Place = ()
) -> InvalidFile | Refused:
    if not refused.problems:
        return refused
    return document.invalid(
        Problem((*prefix, *problem.path), problem.message) for problem in refused.problems
    )
