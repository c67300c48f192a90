"""What a run of the attacks comes to: figures, each with what it must be."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.security.attack import LONGEST_PAUSE_MS, Trace
from tests.security.judging import Judged


@dataclass(kw_only=True)
class Report:
    judged: list[Judged] = field(default_factory=list)
    workers_stopped: list[str] = field(default_factory=list)
    victims_harmed: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)

    @property
    def succeeded(self) -> int:
        return sum(not each.held for each in self.judged)

    @property
    def longest(self) -> Judged | None:
        measured = [each for each in self.judged if each.pause_ms is not None]
        return max(measured, key=lambda each: each.pause_ms or 0, default=None)

    @property
    def met(self) -> bool:
        """Whether every figure is what it must be, and every attack was tried."""
        return not (
            self.succeeded
            or self.credentials
            or self.foreign
            or self.workers_stopped
            or self.invisible
            or self.not_run
            or self.pause_ms > LONGEST_PAUSE_MS
        )

    @property
    def credentials(self) -> list[str]:
        return [name for each in self.judged for name in each.credentials]

    @property
    def foreign(self) -> list[str]:
        read = [name for each in self.judged for name in each.foreign_bytes]
        return read + self.victims_harmed

    @property
    def invisible(self) -> list[str]:
        return [each.name for each in self.judged if each.trace is None]

    @property
    def pause_ms(self) -> int:
        return (self.longest.pause_ms if self.longest else None) or 0

    def lines(self) -> list[str]:
        longest = self.longest
        during = (
            f" (during {longest.name!r}; raw: {longest.raw_pause_ms} ms; "
            f"an idle process beside it: {longest.machine_ms} ms)"
            if longest
            else ""
        )
        return [
            f"attacks run: {len(self.judged)}",
            *(f"  in {group}: {count}" for group, count in self._by_group().items()),
            f"credentials obtained: {len(self.credentials)}{_named(self.credentials)}",
            f"other tenants' bytes read or written: {len(self.foreign)}{_named(self.foreign)}",
            f"workers stopped: {len(self.workers_stopped)}{_named(self.workers_stopped)}",
            f"longest pause of the loop: {self.pause_ms} ms of {LONGEST_PAUSE_MS}{during}",
            f"attacks not visible in a log: {len(self.invisible)}{_named(self.invisible)}",
            *(f"  visible in {trace}: {count}" for trace, count in self._by_trace().items()),
            *(f"not run: {problem}" for problem in self.not_run),
            f"{len(self.judged)} attacks, {self.succeeded} succeeded",
        ]

    def _by_group(self) -> Counter[str]:
        return Counter(each.group.value for each in self.judged)

    def _by_trace(self) -> Counter[str]:
        return Counter(each.trace.value for each in self.judged if each.trace)

    def as_json(self) -> dict[str, Any]:
        return {
            "attacks": [
                {
                    "name": each.name,
                    "group": each.group.value,
                    "held": each.held,
                    "happened": each.happened,
                    "faults": each.faults,
                    "longestPauseMs": each.pause_ms,
                    "longestRawPauseMs": each.raw_pause_ms,
                    "machinesPauseMs": each.machine_ms,
                    "trace": each.trace.value if isinstance(each.trace, Trace) else None,
                }
                for each in self.judged
            ],
            "run": len(self.judged),
            "succeeded": self.succeeded,
            "credentialsObtained": self.credentials,
            "otherTenantsBytes": self.foreign,
            "workersStopped": self.workers_stopped,
            "longestPauseMs": self.pause_ms,
            "notVisible": self.invisible,
            "notRun": self.not_run,
            "met": self.met,
        }


def line_of(each: Judged) -> str:
    """Return the line that is printed once an attack is judged."""
    state = "ok    " if each.held else "FAILED"
    paused = f" · loop paused {each.pause_ms} ms" if each.pause_ms is not None else ""
    what = each.happened if each.held else "; ".join(each.faults)
    return f"{state}  {each.group:8} {each.name}: {what}{paused}"


def _named(names: Sequence[str]) -> str:
    return f" ({', '.join(names[:5])})" if names else ""
