"""One transition of each kind, from values that are recognized in its guard and its writes."""

from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from switchyard.domain.ids import END
from switchyard.domain.jobs import transitions as of_jobs
from switchyard.domain.jobs.job import Job
from switchyard.domain.jobs.plan import Pinned, hidden_task
from switchyard.domain.jobs.redrive import Reopening
from switchyard.domain.scheduling import limit_transitions
from switchyard.domain.scheduling.limits import Limit
from switchyard.domain.scheduling.ready import Partition
from switchyard.domain.states import JobState, TaskState
from switchyard.domain.tasks import (
    edge_transitions,
    fan_out_transitions,
    held_transitions,
    ready_transitions,
)
from switchyard.domain.tasks import transitions as of_tasks
from switchyard.domain.tasks.readiness import Readiness
from switchyard.domain.tasks.task import Lease, LifeSigns, Outcome, Overrides, Task
from switchyard.domain.transition import AnyOf, Due, Guard, Transition, described
from tests.builders import JOB, a_task

NOW_MS: Final = 50_000_000
LEASE_MS: Final = 7_000_000
LATER_MS: Final = 90_000_000
DUE_AT_MS: Final = 20_000_000
GIVEN_MS: Final = 95_000_000
FENCE, RUN, ATTEMPT, LIST_RUN = 701, 301, 2, 350
LIMIT: Final = "q:reviews:12"
STARTS: Final = "qm:reviews:12"
HOLDER: Final = f"{JOB.job_id}#scrape-store@{RUN}"
OWNER: Final = "the owner"
LAST_OWNER: Final = "the last owner"
AS_READ: Final[Any] = "as read"
"""Stands for whatever state was read."""
ENDS_IN: Final[Any] = "its outcome's"
"""Stands for whatever state something ends in."""

_MOMENTS: Final = {
    NOW_MS: "now",
    NOW_MS + LEASE_MS: "lease end",
    LATER_MS: "not_before_ms",
    GIVEN_MS: "a time",
}
_WORDS: Final[dict[Any, str]] = {
    **_MOMENTS,
    DUE_AT_MS: "as read",
    FENCE: "as read",
    FENCE + 1: "as read + 1",
    RUN: "as read",
    RUN + 1: "as read + 1",
    ATTEMPT: "as read",
    OWNER: "ours",
    LAST_OWNER: "as read",
    12: "this many",
    4_711: "as submitted",
    80: "the maximum",
    LIST_RUN: "the list's",
    "the plan": "ours",
    "the decision": "ours",
    "the partition": "as read",
    "the place": "as read",
    "default#acme": "its group's",
    "held#default#acme": "the other",
    RUN - 1: "an earlier one",
    NOW_MS // 60_000: "this minute",
    (LIMIT,): "as read",
    HOLDER: "this run",
}

TASK: Final = a_task(
    state=AS_READ, fence=FENCE, run=RUN, attempt=ATTEMPT, owner=LAST_OWNER, due_at_ms=DUE_AT_MS
)
LEASE: Final = Lease(TASK, OWNER)
IN_INDEX: Final = replace(TASK, ready_in="the partition", ready_order="the place")
END_TASK: Final = replace(hidden_task(JOB.task(END), ["a@1"]), run=RUN)
RELAY: Final = hidden_task(JOB.task("__added-1"))
A: Final = replace(hidden_task(JOB.task("a")), run=1)
REOPENING: Final = Reopening(
    task_id="t",
    state=AS_READ,
    run=RUN,
    fence=FENCE,
    not_completed=frozenset({"b"}),
    overrides=Overrides(model="m"),
)
ENDED: Final = Outcome(state=ENDS_IN, error="boom")
READY: Final = Readiness(TaskState.READY, "all completed")
SKIPPED: Final = Readiness(ENDS_IN, "a did not complete")


def _entering(task: Task) -> Transition:
    entering = ready_transitions.enter_ready(task, now_ms=NOW_MS)
    assert isinstance(entering, Transition)
    return entering


def _parent(state: TaskState) -> Task:
    return replace(TASK, state=state)


TASKS: Final[dict[str, Transition]] = {
    "claim": of_tasks.claim(owner=OWNER, now_ms=NOW_MS, lease_ms=LEASE_MS),
    "claim, limited": of_tasks.claim(
        owner=OWNER, now_ms=NOW_MS, lease_ms=LEASE_MS, limited=replace(TASK, limits=(LIMIT,))
    ),
    "renew": of_tasks.renew(
        LEASE, lease_until_ms=NOW_MS + LEASE_MS, signs=LifeSigns(beat_at_ms=NOW_MS)
    ),
    "settle": of_tasks.settle(LEASE, ENDED, now_ms=NOW_MS),
    "release": of_tasks.release(
        LEASE, not_before_ms=LATER_MS, now_ms=NOW_MS, give_attempt_back=False, error="boom"
    ),
    "release, attempt given back": of_tasks.release(
        LEASE, not_before_ms=LATER_MS, now_ms=NOW_MS, give_attempt_back=True
    ),
    "give_up": of_tasks.give_up(TASK, ENDED, now_ms=NOW_MS),
    "flag": of_tasks.flag(TASK),
    "decide, ready": of_tasks.decide(TASK, READY, now_ms=NOW_MS),
    "decide, ended": of_tasks.decide(TASK, SKIPPED, now_ms=NOW_MS),
    "decide, flagged": of_tasks.decide(
        replace(TASK, cancel_requested=True), SKIPPED, now_ms=NOW_MS
    ),
    "hold": held_transitions.hold(TASK, held_until_ms=GIVEN_MS),
    "resolve": held_transitions.resolve(TASK, ENDED, now_ms=NOW_MS, decision="the decision"),
    "note_expanded": fan_out_transitions.note_expanded(TASK, 12, now_ms=NOW_MS),
    "delay_expansion": fan_out_transitions.delay_expansion(TASK, "no room", due_at_ms=GIVEN_MS),
    "open_fan_out": fan_out_transitions.open_fan_out(
        TASK, waiting_on=frozenset({"t[0]@1"}), child_count=12
    ),
    "gather": fan_out_transitions.gather(TASK, ENDED, now_ms=NOW_MS),
    "replace_item": fan_out_transitions.replace_item(
        replace(TASK, run=LIST_RUN, waiting_on=frozenset({"x@1"}))
    ),
    "drop_item": fan_out_transitions.drop_item(items_run=LIST_RUN, now_ms=NOW_MS),
    "enter_ready": _entering(replace(TASK, state=TaskState.QUEUED)),
    "enter_ready, lease over": _entering(replace(TASK, state=TaskState.PROCESSING)),
    "leave_ready": ready_transitions.leave_ready(IN_INDEX),
    "move_ready": ready_transitions.move_ready(IN_INDEX, Partition.HELD),
    "stay_idle": ready_transitions.stay_idle(RUN),
    "mark_queued": of_tasks.mark_queued(TASK, now_ms=NOW_MS),
    "clear_due": of_tasks.clear_due(TASK),
    "postpone": of_tasks.postpone(TASK, GIVEN_MS, count=False),
    "postpone, counted": of_tasks.postpone(TASK, GIVEN_MS, count=True),
    "remove_edges": edge_transitions.remove_edges({"a@1": True, "b@1": False}),
    "settle_start": of_tasks.settle_start(now_ms=NOW_MS),
    "follow_relay": edge_transitions.follow_relay(END_TASK, RELAY),
    "follow_relay, instead": edge_transitions.follow_relay(END_TASK, RELAY, instead_of=A),
    "stay_parent, unsettled": edge_transitions.stay_parent(_parent(TaskState.QUEUED)),
    "stay_parent, settled": edge_transitions.stay_parent(_parent(TaskState.FAILED)),
    "reopen, ready": of_tasks.reopen(REOPENING, now_ms=NOW_MS),
    "reopen, waiting": of_tasks.reopen(
        replace(REOPENING, waiting_on=frozenset({"a@2"})), now_ms=NOW_MS
    ),
    "reopen, other items": of_tasks.reopen(
        replace(REOPENING, items_run=2, pinned=Pinned(version=2)), now_ms=NOW_MS
    ),
}
JOB_ITEM: Final = Job(
    ref=JOB,
    name="brand",
    state=AS_READ,
    total_tasks=3,
    created_at_ms=4_711,
    run=RUN,
    due_at_ms=DUE_AT_MS,
    redrive_key="the plan",
)
JOBS: Final[dict[str, Transition]] = {
    "note_written": of_jobs.note_written(12),
    "open_job": of_jobs.open_job(JOB_ITEM, now_ms=NOW_MS),
    "abandon": of_jobs.abandon(JOB_ITEM),
    "give_up_submission": of_jobs.give_up_submission(JOB),
    "note_failure": of_jobs.note_failure(JOB_ITEM, task_id="t", now_ms=NOW_MS),
    "settle": of_jobs.settle(JOB_ITEM, ENDS_IN, now_ms=NOW_MS),
    "postpone": of_jobs.postpone(JOB_ITEM, GIVEN_MS),
    "add_tasks": of_jobs.add_tasks(JOB_ITEM, added=12, most_before=80),
    "add_items": of_jobs.add_items(added=12, most_before=80),
    "begin_cancel": of_jobs.begin_cancel(JOB_ITEM, now_ms=NOW_MS, by="ann"),
    "note_cancel_progress": of_jobs.note_cancel_progress(JOB_ITEM, "all#t"),
    "end_cancel": of_jobs.end_cancel(JOB_ITEM, now_ms=NOW_MS, cursor="events#"),
    "note_events_emitted": of_jobs.note_events_emitted(JOB_ITEM, "events#t"),
    "begin_redrive": of_jobs.begin_redrive(JOB_ITEM, key="the plan", now_ms=NOW_MS),
    "note_redrive_progress": of_jobs.note_redrive_progress(JOB_ITEM, written=12),
    "reopen": of_jobs.reopen(JOB_ITEM, now_ms=NOW_MS),
    "reopen, other items": of_jobs.reopen(JOB_ITEM, now_ms=NOW_MS, fewer_tasks=12),
    "end_redrive": of_jobs.end_redrive(replace(JOB_ITEM, state=JobState.OPEN), now_ms=NOW_MS),
    "end_redrive, settled": of_jobs.end_redrive(
        replace(JOB_ITEM, state=JobState.FAILED), now_ms=NOW_MS
    ),
}

LIMITS: Final[dict[str, Transition]] = {
    "take_place": limit_transitions.take_place(TASK, LIMIT, Limit(), now_ms=NOW_MS),
    "take_place, first in its minute": limit_transitions.take_place(
        TASK, STARTS, Limit(), now_ms=NOW_MS
    ),
    "take_place, in the same minute": limit_transitions.take_place(
        TASK, STARTS, Limit(minute=NOW_MS // 60_000), now_ms=NOW_MS
    ),
    "give_place_back": limit_transitions.give_place_back(TASK),
    "add_waiter": limit_transitions.add_waiter(TASK, LIMIT, Limit(), now_ms=NOW_MS),
    "add_waiter, of starts": limit_transitions.add_waiter(TASK, STARTS, Limit(), now_ms=NOW_MS),
    "remove_waiter": limit_transitions.remove_waiter("the waiter"),
    "remove_holder": limit_transitions.remove_holder(TASK.this_run),
}


def origin(guard: Guard) -> str:
    """Say from which states a transition starts."""
    states = dict.fromkeys(_states(guard))
    named = [_word(state) for state in states if _word(state) != AS_READ]
    return ", ".join(named) or (AS_READ if states else "any")


def guard_text(guard: Guard | None) -> str:
    return "" if guard is None else described(guard, _word)


def writes_text(transition: Transition) -> str:
    state = transition.sets.get("state")
    parts = [
        *([f"state {state}"] if state else []),
        *sorted(name for name in transition.sets if name != "state"),
        *(_added(name, more) for name, more in sorted(transition.adds.items())),
        *(f"- members of {name}" for name in sorted(transition.deletes)),
        *(f"no {name}" for name in sorted(transition.removes)),
    ]
    return ", ".join(parts) or "nothing"


def due_text(transition: Transition) -> str:
    if isinstance(transition.due, Due):
        return transition.due.value
    since = max(moment for moment in _MOMENTS if moment <= transition.due)
    rest = timedelta(milliseconds=transition.due - since)
    return f"{_MOMENTS[since]} + {_length(rest)}" if rest else _MOMENTS[since]


def _states(guard: Guard) -> list[Any]:
    found: list[Any] = []
    for term in guard:
        if isinstance(term, AnyOf):
            found += [state for one in term.alternatives for state in _states(one)]
        elif getattr(term, "field", "") == "state":
            found += getattr(term, "values", None) or [getattr(term, "value", None)]
    return found


def _word(value: Any) -> str:
    if isinstance(value, frozenset):
        return "as read"
    return _WORDS.get(value) or str(value)


def _added(name: str, more: int | frozenset[str]) -> str:
    if isinstance(more, frozenset):
        return f"+ members of {name}"
    return f"{'-' if more < 0 else '+'} {_word(abs(more))} {name}"


def _length(time: timedelta) -> str:
    seconds = int(time.total_seconds())
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds % size == 0:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
