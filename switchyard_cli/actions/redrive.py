"""Asks the API for a redrive, or for what one would run."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from switchyard.client.errors import NotFound, Refused
from switchyard.contracts.changes import RedriveJob
from switchyard.contracts.problems import validation_problems
from switchyard.domain.errors import Problem
from switchyard_cli.actions.interruption import NextCommands, explaining_ctrl_c
from switchyard_cli.actions.retry import until_accepted
from switchyard_cli.errors import BadInput
from switchyard_cli.files.static_checks import schema_problems

if TYPE_CHECKING:
    from switchyard.contracts.changes import RedriveAccepted
    from switchyard_cli.connections.api import Api
    from switchyard_cli.files.document import Document
    from switchyard_cli.services import Services


def redrive_request(asked: dict[str, Any], document: Document | None) -> RedriveJob:
    if document and len([*asked["tasks"], *(asked["from"] or ())]) != 1:
        raise BadInput("--input needs exactly one --task or --from.")
    given = {name: value for name, value in asked.items() if value is not None}
    if document:
        given["input"] = document.value
    try:
        return RedriveJob.model_validate(given)
    except ValidationError as error:
        raise refused_input(validation_problems(error.errors()), document) from error


def check_input(api: Api, job_id: str, request: RedriveJob, document: Document | None) -> None:
    """Compare a new input with the schema of the definition that its task runs.

    What cannot be read is left to the API, which says what is wrong.
    """
    if document is None:
        return
    [name] = (*request.tasks, *request.from_)
    with suppress(NotFound):
        task = api.task(job_id, name)
        if task.name and task.kind is None:
            version = None if request.latest else task.definition_version
            schema = api.definition(task.name, version).input_schema
            problems = list(schema_problems((), document.value, schema))
            if problems:
                raise document.invalid(problems)


def send_redrive(
    api: Api, job_id: str, request: RedriveJob, document: Document | None, services: Services
) -> RedriveAccepted:
    look = NextCommands.of(api, services).first(f"job {job_id}")
    try:
        with explaining_ctrl_c(f"{job_id} may have been redriven: {look} shows it."):
            return until_accepted(lambda: api.redrive(job_id, request), services.clock)
    except Refused as refused:
        if not refused.problems:
            raise
        raise refused_input(refused.problems, document) from refused


def refused_input(problems: Any, document: Document | None) -> BadInput:
    """Place the problems of the input on its lines."""
    of_input = [Problem(p.path[1:], p.message) for p in problems if p.path[:1] == ("input",)]
    if document and of_input:
        return document.invalid(of_input)
    return BadInput("\n".join(map(str, problems)))
