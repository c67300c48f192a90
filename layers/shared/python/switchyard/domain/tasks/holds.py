"""Tasks that no worker runs: what holds them, until when, and how they end."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from switchyard.domain.states import TaskKind, TaskState
from switchyard.domain.tasks.readiness import DISPATCHER
from switchyard.domain.tasks.task import Json, Outcome, Task, milliseconds

LONGEST_MS: Final = milliseconds(timedelta(days=366))
"""The longest time for which a task is held; approvals and signals without a timeout take it."""
SHORTEST_MS: Final = 1_000
NOT_DECIDED: Final = "not_decided"
"""The category of a failure for want of a decision or a signal."""
TURNED_DOWN: Final = "rejected"
"""The category of a failure that a person decided."""


class OnTimeout(StrEnum):
    FAIL = "fail"
    APPROVE = "approve"
    REJECT = "reject"


class OnReject(StrEnum):
    COMPLETE = "complete"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    kind: TaskKind
    for_ms: int = LONGEST_MS
    """The duration of a wait; for other kinds, how long a decision or a signal may take."""
    until_ms: int | None = None
    """The end of a wait, instead of `for_ms`."""
    on_timeout: OnTimeout = OnTimeout.FAIL
    on_reject: OnReject = OnReject.COMPLETE
    question: str | None = None
    """The question to a person."""
    value_schema: Mapping[str, Any] | None = None
    """The schema that an edited value, or the value of a signal, has to match."""
    event: Mapping[str, Any] | None = None
    """The pattern of the event that ends a signal, with references as its author wrote them."""

    def ends_at_ms(self, ready_at_ms: int) -> int:
        """Return when a task ends by itself that could run since `ready_at_ms`."""
        if self.until_ms is not None:
            return max(ready_at_ms, self.until_ms)
        return ready_at_ms + self.for_ms

    def stored(self) -> dict[str, Json]:
        """Return what `hold_of` reads, without what is as usual."""
        usual = Hold(kind=self.kind)
        return {
            one.name: value
            for one in fields(self)
            if (value := getattr(self, one.name)) != getattr(usual, one.name)
        }


def hold_of(kind: TaskKind, stored: Mapping[str, Json] | None) -> Hold:
    """Read what `Hold.stored` returned; what a newer version adds is left out."""
    found = dict(stored or {})
    return Hold(
        kind=kind,
        for_ms=int(found.get("for_ms", LONGEST_MS)),
        until_ms=found.get("until_ms"),
        on_timeout=OnTimeout(found.get("on_timeout", OnTimeout.FAIL)),
        on_reject=OnReject(found.get("on_reject", OnReject.COMPLETE)),
        question=found.get("question"),
        value_schema=found.get("value_schema"),
        event=found.get("event"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision of a person or a program about a held task."""

    decision_id: str
    """Stands for this one request: repeated, it changes nothing."""
    by: str
    approved: bool = True
    comment: str | None = None
    value: Json = None
    has_value: bool = False


@dataclass(frozen=True, slots=True)
class Resolution:
    outcome: Outcome
    output: Json = None


def decided(hold: Hold, decision: Decision, *, held_since_ms: int, now_ms: int) -> Resolution:
    """Return how a held task ends by a decision."""
    took_ms = max(0, now_ms - held_since_ms)
    if hold.kind is not TaskKind.APPROVAL:
        return Resolution(_completed(took_ms, decision.by), decision.value)
    if not decision.approved and hold.on_reject is OnReject.FAIL:
        return Resolution(_failed(_rejection(decision), TURNED_DOWN, took_ms, decision.by))
    answer = {
        "approved": decision.approved,
        "by": decision.by,
        "decidedAt": _written(now_ms),
        "comment": decision.comment,
    }
    value = {"value": decision.value} if decision.has_value else {}
    return Resolution(_completed(took_ms, decision.by), answer | value)


def time_is_up(hold: Hold, *, held_since_ms: int, now_ms: int) -> Resolution:
    """Return how a held task ends by itself."""
    took_ms = max(0, now_ms - held_since_ms)
    if hold.kind is TaskKind.WAIT:
        waited_until = {"waitedUntil": _written(hold.ends_at_ms(held_since_ms))}
        return Resolution(_completed(took_ms), waited_until)
    nobody = "nobody decided" if hold.kind is TaskKind.APPROVAL else "no signal came"
    reason = f"{nobody} by {_written(hold.ends_at_ms(held_since_ms))}"
    if hold.kind is TaskKind.SIGNAL or hold.on_timeout is OnTimeout.FAIL:
        return Resolution(_failed(reason, NOT_DECIDED, took_ms))
    approved = hold.on_timeout is OnTimeout.APPROVE
    if not approved and hold.on_reject is OnReject.FAIL:
        return Resolution(_failed(f"rejected, since {reason}", TURNED_DOWN, took_ms))
    answer = {"approved": approved, "by": None, "decidedAt": _written(now_ms), "comment": reason}
    return Resolution(_completed(took_ms), answer)


def basis_of(task: Task, hold: Hold, parents: Iterable[Task]) -> str:
    """Return what stands for exactly what a person decides on: the task's run, the question and how
    each parent ended. A decision on another basis is refused.

    What a task made never changes after it has settled, under that run and fence.
    """
    ended = sorted([one.ref.task_id, one.state, one.run, one.fence] for one in parents)
    said = [task.ref.request_id, task.run, hold.question, ended]
    text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def problem_with_decision(task: Task, *, run: int | None, now_ms: int) -> str | None:
    """Say why nothing can be decided about the task; `None` if something can."""
    name = task.ref.task_id
    if task.kind is None or task.fans_out:
        return never_held(task)
    if run is not None and run != task.run:
        return f"that was run {run} of {name}; it is in run {task.run} now"
    if task.state.settled:
        how = " by a decision" if task.decision else ""
        again = "" if task.state is TaskState.COMPLETED else "; a redrive of the job holds it anew"
        return f"{name} was ended{how} already: it is {task.state.value.lower()}{again}"
    if task.state is not TaskState.HELD:
        said = f"{name} is not waiting for a decision yet: it is {task.state.value.lower()}"
        return f"{said}; try again once the tasks that it depends on have ended"
    if task.held_until_ms <= now_ms:
        return f"the time for {name} was over at {_written(task.held_until_ms)}"
    return None


def never_held(task: Task) -> str:
    """Return the error for a decision about a task that is not held."""
    runs = "it makes tasks of its own" if task.fans_out else "a worker runs it"
    ends = "" if task.state.settled else "; cancel it to end it"
    said = f"{task.ref.task_id} is neither an approval nor a signal: {runs}"
    return f"{said}, and it is {task.state.value.lower()}{ends}"


def ended_otherwise(task: Task) -> str:
    """Say what ends a held task that the request at hand does not."""
    match task.kind:
        case TaskKind.APPROVAL:
            return f"{task.ref.task_id} is an approval: approve or reject it"
        case TaskKind.SIGNAL:
            return f"{task.ref.task_id} is a signal: give it its signal instead"
    return f"{task.ref.task_id} is a wait: it ends by itself, or is cancelled"


def _completed(took_ms: int, by: str | None = None) -> Outcome:
    return Outcome(state=TaskState.COMPLETED, duration_ms=took_ms, decided_by=by)


def _failed(error: str, category: str, took_ms: int, by: str | None = None) -> Outcome:
    return Outcome(
        state=TaskState.FAILED,
        error=error,
        error_category=category,
        duration_ms=took_ms,
        decided_by=by,
        source=DISPATCHER,
    )


def _rejection(decision: Decision) -> str:
    comment = f": {decision.comment}" if decision.comment else ""
    return f"rejected by {decision.by}{comment}"


def _written(moment_ms: int) -> str:
    moment = datetime.fromtimestamp(moment_ms / 1000, tz=UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
