"""Reads the job of a test: a file with its definitions, a `Job`, or what the API is sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from switchyard.client.job import Job
from switchyard.contracts.definitions import TaskDefinition
from switchyard.contracts.files import FileContent
from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.jobs.file_checks import file_problems
from switchyard.functions.definitions import definitions_of
from switchyard.functions.errors import FunctionsError
from switchyard.functions.packages import located
from switchyard.testing.job_runs.errors import JobTestError
from switchyard_cli.errors import CliError
from switchyard_cli.files.beside import Beside
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
    files: Mapping[str, Path]
    """The files that lie beside a job file and are submitted with it."""

    def with_files(self, files: Mapping[str, FileContent]) -> "JobUnderTest":
        """Return the job with these files. Raise `JobTestError` if a task names another."""
        request = self.request.model_copy(update={"files": {**self.request.files, **files}})
        specs = [task.spec() for task in request.tasks]
        advice = "give it to run_job, as in files={{'{}': 'path/of/the/file'}}"
        problems = file_problems(specs, list(request.files), advice=advice)
        if problems:
            raise JobTestError(f"the job is refused: {'; '.join(map(str, problems))}")
        return replace(self, request=request)


def read_source(
    job: JobSource,
    *,
    functions: Sequence[str],
    definitions: Mapping[str, Any] | str | PathLike[str] | None,
) -> JobUnderTest:
    """Raise `JobTestError` for what cannot be read, and as `submit` does for an invalid file."""
    try:
        request, own, beside = _request(job)
        packages = [located(str(place)) for place in (*beside.functions, *functions)]
        found: dict[str, TaskDefinition] = {}
        for package in packages:
            found |= definitions_of(package).definitions
    except (CliError, FunctionsError, OSError) as problem:
        raise JobTestError(str(problem)) from problem
    known = {**found, **_given(definitions), **own}
    served, files = ServedFunctions(packages), dict(beside.files)
    return JobUnderTest(_agents_only(request), known, served, files)


def _request(job: JobSource) -> tuple[SubmitJob, dict[str, TaskDefinition], Beside]:
    if isinstance(job, Job):
        return job.submission(), {}, Beside()
    if isinstance(job, SubmitJob):
        return job, {}, Beside()
    read = read_job(Path(job))
    return read.content.submission(), dict(read.content.definitions), read.beside()


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
