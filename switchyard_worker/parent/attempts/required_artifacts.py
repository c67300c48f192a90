"""Fails an attempt that completed without the artifacts that its task has to leave behind."""

from collections.abc import Sequence
from typing import Final

from switchyard.domain.jobs.files import OUTPUT_NAME, matches, unmatched
from switchyard.domain.prompts.artifacts import ARTIFACTS
from switchyard.domain.tasks.failures import FailureCategory
from switchyard_worker.parent.attempts.verdict import Concluded

MOST_NAMED: Final = 10
MAX_NAME_CHARACTERS: Final = 100


def with_required(verdict: Concluded, required: Sequence[str], names: Sequence[str]) -> Concluded:
    """Return the verdict, or a failure that may pass if a pattern means none of these files.

    The names are those of an attempt's files, so an artifact's begins with its folder.
    """
    folder = f"{ARTIFACTS}/"
    artifacts = [name.removeprefix(folder) for name in names if name.startswith(folder)]
    missing = unmatched(required, artifacts)
    if not missing:
        return verdict
    error = _missing(missing, sorted(set(artifacts) - {OUTPUT_NAME}))
    return verdict.but_failed(FailureCategory.CODE_FAILED, error)


def meant(name: str, required: Sequence[str]) -> bool:
    """Return whether a file of an attempt is one that its task has to leave behind."""
    folder, slash, artifact = name.partition("/")
    return folder == ARTIFACTS and bool(slash) and any(matches(artifact, one) for one in required)


def _missing(patterns: Sequence[str], names: Sequence[str]) -> str:
    said = f"artifacts: nothing matches {', '.join(patterns[:MOST_NAMED])}"
    if not names:
        return f"{said}: the task left no files in its folder {ARTIFACTS}"
    shown = [name[:MAX_NAME_CHARACTERS] for name in names[:MOST_NAMED]]
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"{said}; the task left {', '.join(shown)}{more}"
