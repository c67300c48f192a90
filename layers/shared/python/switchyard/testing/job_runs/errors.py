"""Errors of a test of a job, rather than of the job."""

from collections.abc import Iterable

from switchyard.domain.text import did_you_mean


class JobTestError(Exception):
    """The job cannot be run as the test asks: a sentence for its author."""


def unused_name(kind: str, name: str, known: Iterable[str]) -> JobTestError:
    """Return the error for a script or a decision that belongs to nothing in the job."""
    names = sorted(known)
    hint = did_you_mean(name, names)
    listed = ", ".join(names) if names else "none"
    return JobTestError(f"{kind} names {name!r}, which the job does not have{hint}: {listed}")
