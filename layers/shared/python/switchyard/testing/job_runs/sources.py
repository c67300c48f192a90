"""Reads the job of a test: a file with its definitions, a `Job`, or what the API is sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from switchyard.client.job import Job
from switchyard.contracts.definitions import TaskDefinition
from switchyard.contracts.jobs import SubmitJob
from switchyard.functions.definitions import definitions_of
from switchyard.functions.errors import FunctionsError
from switchyard.functions.packages import located
from switchyard.testing.job_runs.errors import JobTestError
from switchyard_cli.errors import CliError
from switchyard_cli.files.job_file import read_definitions, read_job
from switchyard_worker.parent.attempts.functions import ServedFunctions

JobSource = str | PathLike[str] | Job | SubmitJob
"""A job file, or a job described in Python."""


@dataclass(frozen=True, slots=True)
class JobUnderTest:
    """A job with all definitions that it may name, and the functions that run its code."""

    request: SubmitJob
    definitions: dict[str, TaskDefinition]
    functions: ServedFunctions


def read_source(
    job: JobSource,
    *,
    functions: Sequence[str],
    definitions: Mapping[str, Any] | str | PathLike[str] | None,
) -> JobUnderTest:
    """Raise `JobTestError` for what cannot be read, and as `submit` does for an invalid file."""
    try:
        request, own = _request(job)
        packages = [located(str(place)) for place in functions]
        found: dict[str, TaskDefinition] = {}
        for package in packages:
            found |= definitions_of(package).definitions
    except (CliError, FunctionsError, OSError) as problem:
        raise JobTestError(str(problem)) from problem
    known = {**found, **_given(definitions), **own}
    return JobUnderTest(_agents_only(request), known, ServedFunctions(packages))


def _request(job: JobSource) -> tuple[SubmitJob, dict[str, TaskDefinition]]:
    if isinstance(job, Job):
        return job.submission(), {}
    if isinstance(job, SubmitJob):
        return job, {}
    content = read_job(Path(job)).content
    return content.submission(), dict(content.definitions)


def _given(definitions: Mapping[str, Any] | str | PathLike[str] | None) -> dict[str, Any]:
    """Return definitions of a file, or of a mapping as such a file has it."""
    if definitions is None:
        return {}
    if isinstance(definitions, Mapping):
        return {name: TaskDefinition.model_validate(one) for name, one in definitions.items()}
    try:
        return dict(read_definitions(Path(definitions))[1])
    except CliError as problem:
        raise JobTestError(str(problem)) from problem


def _agents_only(request: SubmitJob) -> SubmitJob:
    """Leave out where failures are published: nothing leaves a test."""
    return request.model_copy(update={"notify": None})
