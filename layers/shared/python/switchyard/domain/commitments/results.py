"""What became of the commitments of an attempt: which were met, which were not, and why.

A reason may quote a child's output or a grader: it is cleaned and bounded before it gets here.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

MAX_COMMITMENTS: Final = 20
"""The most that a task has, with those of its definition."""
MAX_REASON: Final = 300
MAX_STORED_BYTES: Final = 6_000
"""The results are stored in the task's control item, whose every write pays for all of it."""
MAX_SENTENCE: Final = 1_500
_CUTS: Final = ((MAX_REASON, 120), (150, 60), (80, 0))
"""How many characters of a reason are stored: of one that is not met, and of one that is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitmentResult:
    name: str
    kind: str
    met: bool
    reason: str = ""
    """The evidence in a sentence."""
    duration_ms: int = 0

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}" if self.reason else self.name


@dataclass(frozen=True, slots=True)
class CheckedCommitments:
    """The commitments as one attempt left them."""

    attempt: int
    results: tuple[CommitmentResult, ...]

    @property
    def missing(self) -> tuple[CommitmentResult, ...]:
        return tuple(result for result in self.results if not result.met)

    @property
    def met(self) -> int:
        """Count those that hold."""
        return len(self.results) - len(self.missing)

    @property
    def verified(self) -> bool:
        """Return whether all of them hold, and there is at least one."""
        return bool(self.results) and not self.missing

    def sentence(self) -> str:
        """Say what is missing, as the error of the attempt."""
        missing = self.missing
        are = "is" if len(missing) == 1 else "are"
        counted = f"{len(missing)} of {len(self.results)} commitments {are} not met"
        return f"{counted}: {'; '.join(map(str, missing))}"[:MAX_SENTENCE]

    def stored(self) -> str:
        """Return the text of the control item's attribute, cut to its bound."""
        text = ""
        for missing, met in _CUTS:
            cut = [_cut(result, met if result.met else missing) for result in self.results]
            text = _text(self.attempt, cut)
            if len(text.encode()) <= MAX_STORED_BYTES:
                break
        return text

    @classmethod
    def read(cls, text: str) -> "CheckedCommitments | None":
        """Read what this or another version stored; `None` for what cannot be read."""
        try:
            document = json.loads(text)
            results = tuple(_result(one) for one in document["results"])
            return cls(int(document["attempt"]), results)
        except (ValueError, TypeError, LookupError):
            return None


def _text(attempt: int, results: Sequence[CommitmentResult]) -> str:
    document = {"attempt": attempt, "results": [asdict(result) for result in results]}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _cut(result: CommitmentResult, most: int) -> CommitmentResult:
    if len(result.reason) <= most:
        return result
    return replace(result, reason=f"{result.reason[: most - 1]}…" if most else "")


_NAMES: Final = frozenset(one.name for one in fields(CommitmentResult))


def _result(document: Mapping[str, Any]) -> CommitmentResult:
    """Read what is known of a result: a newer version may say more."""
    return CommitmentResult(**{name: value for name, value in document.items() if name in _NAMES})
