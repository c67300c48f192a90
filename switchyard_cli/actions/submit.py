"""Sends a file: first the definitions it brings along, then its job, or the tasks for one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from switchyard.client.errors import PAUSE_SECONDS, ClientError, Refused, Unreachable
from switchyard.client.patience import patiently
from switchyard.domain.errors import Problem
from switchyard.domain.jobs.graph import NOT_REGISTERED
from switchyard.domain.nested_jobs.job_templates import used_first
from switchyard.domain.text import did_you_mean
from switchyard_cli.actions.interruption import NextCommands, explaining_ctrl_c
from switchyard_cli.actions.registry import registered_definitions
from switchyard_cli.actions.retry import until_accepted
from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_of
from switchyard_cli.errors import CliError, InvalidFile
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import clean, notices
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from switchyard.client.uploads import LocalFile
    from switchyard.contracts.definitions import RegisteredDefinition
    from switchyard.contracts.jobs import JobAccepted, SubmitJob, TasksAdded
    from switchyard.functions.definitions import FunctionDefinitions
    from switchyard.ports import Clock
    from switchyard_cli.files.document import Document
    from switchyard_cli.files.job_file import Definitions, SourcedAddition, SourcedJob
    from switchyard_cli.files.readable import Readable
    from switchyard_cli.files.yaml_source import Place
    from switchyard_cli.services import Services


def submit(
    job: SourcedJob,
    api: Api,
    *,
    key: str,
    services: Services,
    files: Sequence[LocalFile] = (),
    packages: Sequence[FunctionDefinitions] = (),
    cloud_goes_down: bool = False,
) -> JobAccepted:
    """Upload the files that the job is submitted with, register its definitions, and send it.

    The functions of `packages` are registered as well.
    """
    clock = services.clock
    commands = NextCommands.of(api, services, cloud_goes_down=cloud_goes_down)
    if packages:
        from switchyard_cli.actions.functions import register_all  # noqa: PLC0415 - few jobs have any

        register_all(packages, api, clock)
    register(job.document, job.content.definitions, api, clock=clock)
    submission = job.content.submission()
    if files:
        from switchyard_cli.actions.upload import uploaded  # noqa: PLC0415 - most jobs have none

        contents = submission.files | uploaded(files, api, clock)
        submission = submission.model_copy(update={"files": contents})
    try:
        with explaining_ctrl_c(commands.after_sending()):
            return _sent(submission, api, key, clock)
    except Refused as refused:
        raise _on_its_lines(_with_near_definitions(refused, api), job.document) from refused


def add(addition: SourcedAddition, job_id: str, api: Api, *, clock: Clock) -> TasksAdded:
    """Send the addition until all its tasks are in the job; tasks already there count as added."""
    register(addition.document, addition.content.definitions, api, clock=clock)
    tasks = addition.content.addition()
    before, come_to = -1, 0
    try:
        while come_to > before:
            added = until_accepted(lambda: api.add(job_id, tasks), clock, also=(Unreachable,))
            before, come_to = come_to, len(added.added_tasks)
            if not added.try_again:
                break
            _report_progress(added, len(tasks.tasks))
    except Refused as refused:
        raise _on_its_lines(_with_near_definitions(refused, api), addition.document) from refused
    return added


def _report_progress(added: TasksAdded, wanted: int) -> None:
    said = f"{len(added.added_tasks):,} of {counted(wanted, 'task')} are in: {added.problem}."
    notices().print(clean(said), style="dim", soft_wrap=True)


def _sent(job: SubmitJob, api: Api, key: str, clock: Clock) -> JobAccepted:
    """Send it once more if the answer is lost: it may be that of a job which was accepted.

    The second answer says that the key was used, which this command may have done itself.
    """
    tries = 0

    def send() -> JobAccepted:
        nonlocal tries
        tries += 1
        return api.submit(job, key=key)

    accepted = patiently(send, clock, seconds=PAUSE_SECONDS)
    return accepted if tries == 1 else accepted.model_copy(update={"repeated": False})


def register(
    document: Document, definitions: Definitions, api: Api, *, clock: Clock
) -> list[RegisteredDefinition]:
    """Register definitions; an unchanged one stays at its version, so this may be repeated.

    Templates come after what they name: they keep the versions of that moment.
    """
    registered = []
    for name in used_first({name: one.template for name, one in definitions.items()}):
        put = partial(api.put_definition, name, definitions[name])
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


def _with_near_definitions(refused: Refused, api: Api) -> Refused:
    """Suggest a registered definition for each name that is none."""
    if not any(problem.message.endswith(NOT_REGISTERED) for problem in refused.problems):
        return refused
    registered = [definition.name for definition in api.definitions().definitions]
    problems = [
        Problem(p.path, p.message + did_you_mean(p.message.split("'")[1], registered))
        if p.message.endswith(NOT_REGISTERED)
        else p
        for p in refused.problems
    ]
    return Refused(str(refused), problems)


def look_up_definitions(
    file: Readable, stage: Stage, services: Services
) -> tuple[dict[str, RegisteredDefinition], list[Problem]]:
    """Return the registered definitions of tasks, and a problem for each task without one.

    Definitions of the file are not looked up. Return neither, with a notice, if the stage cannot
    be reached.
    """
    named = {at: task.name for at, task in file.tasks.items() if task.name is not None}
    names = {at: name for at, name in named.items() if name not in file.defined}
    found: dict[str, RegisteredDefinition] = {}
    problems: list[Problem] = []
    if not names:
        return found, problems
    try:
        with Api(endpoint_of(stage, services), services.transport) as api:
            found, registered = registered_definitions(api, set(names.values()))
            missing = {at: name for at, name in names.items() if name not in found}
            known = [*file.defined, *registered]
            problems = [_not_registered(at, name, known) for at, name in missing.items()]
    except (CliError, ClientError) as error:
        said = f"Registered definitions are not checked: {error}"
        notices().print(clean(said), style="dim", soft_wrap=True)
    return found, problems


def _not_registered(position: int, name: str, known: Sequence[str]) -> Problem:
    hint = did_you_mean(name, known)
    return Problem(("tasks", position, "name"), f"{name!r} {NOT_REGISTERED}{hint}")
