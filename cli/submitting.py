"""Sends a job file: first the definitions it brings along, then the job."""

from cli.api import Api
from cli.errors import InvalidFile, Refused
from cli.files.document import Document
from cli.files.job_file import Definitions, SourcedJob
from cli.files.yaml_source import Place
from switchyard.contracts.definitions import RegisteredDefinition
from switchyard.contracts.jobs import JobAccepted
from switchyard.domain.errors import Problem


def submit(job: SourcedJob, api: Api) -> JobAccepted:
    register(job.document, job.content.definitions, api)
    try:
        return api.submit(job.content.submission())
    except Refused as refused:
        raise _on_its_lines(refused, job.document) from refused


def register(document: Document, definitions: Definitions, api: Api) -> list[RegisteredDefinition]:
    """An unchanged definition keeps its version, so doing this again is harmless."""
    registered = []
    for name, definition in definitions.items():
        try:
            registered.append(api.put_definition(name, definition))
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
