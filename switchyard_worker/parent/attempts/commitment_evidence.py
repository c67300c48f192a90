"""What was found of an attempt's commitments, and what follows for the verdict on it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from switchyard.domain.commitments.results import CheckedCommitments, CommitmentResult
from switchyard.domain.tasks.failures import FailureCategory
from switchyard.domain.tasks.task import Usage
from switchyard_worker.parent.attempts.verdict import Concluded

EVIDENCE_FILE: Final = "logs/commitments.json"
"""Where the worker stores what it found; a file of that name that a child left is not stored."""
MAX_DIGESTS: Final = 20
"""The most files of one commitment that evidence lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the check of one commitment found."""

    met: bool
    reason: str
    printed: str = ""
    """The beginning and the end of what a command printed."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 of each file that was read, by its name in the attempt's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found of all commitments of an attempt."""

    checked: CheckedCommitments
    evidence: Mapping[str, Evidence]
    usage: Usage = field(default_factory=Usage)
    """What graders used."""

    @property
    def digests(self) -> Mapping[str, str]:
        """Return the SHA-256 of each file that was read, by its name in the attempt's folder."""
        return {name: one for found in self.evidence.values() for name, one in found.files.items()}

    def document(self) -> dict[str, Any]:
        """Return all of it, to be stored beside the attempt's logs."""
        return {
            "attempt": self.checked.attempt,
            "verified": self.checked.verified,
            "commitments": [self._entry(result) for result in self.checked.results],
        }

    def _entry(self, result: CommitmentResult) -> dict[str, Any]:
        found = self.evidence[result.name]
        return {
            "name": result.name,
            "kind": result.kind,
            "met": result.met,
            "reason": result.reason,
            "durationMs": result.duration_ms,
            **({"printed": found.printed} if found.printed else {}),
            **({"sha256": dict(list(found.files.items())[:MAX_DIGESTS])} if found.files else {}),
        }


class NotChecked(Exception):
    """The commitments could not be checked, which says nothing about them."""

    def __init__(
        self,
        category: FailureCategory,
        message: str,
        *,
        usage: Usage | None = None,
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(f"its commitments could not be checked: {message}")
        self.category = category
        self.usage = usage or Usage()
        self.retry_after_ms = retry_after_ms


def added(one: Usage, other: Usage) -> Usage:
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cache_read_tokens=one.cache_read_tokens + other.cache_read_tokens,
        cost_usd=one.cost_usd + other.cost_usd,
    )


def with_found(verdict: Concluded, found: Found) -> Concluded:
    """Return the verdict with what was found: a failure if a commitment is not met."""
    used = added(verdict.outcome.usage, found.usage)
    verdict = replace(verdict.changed(usage=used), checked=found.checked)
    if found.checked.verified:
        return verdict
    return verdict.but_failed(FailureCategory.COMMITMENTS_FAILED, found.checked.sentence())


def not_checked(verdict: Concluded, problem: NotChecked) -> Concluded:
    """Return the failure of an attempt whose commitments could not be checked."""
    failure = verdict.but_failed(problem.category, str(problem))
    used = added(verdict.outcome.usage, problem.usage)
    return replace(failure.changed(usage=used), retry_after_ms=problem.retry_after_ms)


def changed_since(verdict: Concluded, found: Found, uploaded: Mapping[str, str]) -> Concluded:
    """Return the verdict, or a failure if a file was not uploaded as it was checked."""
    others = {name for name, digest in found.digests.items() if uploaded.get(name) != digest}
    if not others:
        return verdict
    results = tuple(
        replace(result, met=False, reason=f"{min(changed)[:80]} changed after it was checked")
        if (changed := others & found.evidence[result.name].files.keys())
        else result
        for result in found.checked.results
    )
    checked = CheckedCommitments(found.checked.attempt, results)
    failure = verdict.but_failed(FailureCategory.COMMITMENTS_FAILED, checked.sentence())
    return replace(failure, checked=checked)


def evidence_document(found: Found, checked: CheckedCommitments) -> bytes:
    """Return the file that says what was found, as the verdict states it."""
    document = replace(found, checked=checked).document()
    return json.dumps(document, indent=2, ensure_ascii=False).encode("utf-8", "replace")


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
