"""Shows the release that each worker of a stage runs, for `rollout`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final, Self

from rich.console import Group
from rich.text import Text

from switchyard.contracts.wire import Written, instant
from switchyard.domain.health.rollout import RolloutState, describe_rollout, is_replaced
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import clean, heading
from switchyard_cli.views.tables import cut_to_fit, table_of
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from rich.table import Table

    from switchyard.domain.health.presence import PresentWorker

TAKES_TASKS: Final = "takes tasks"
DRAINING: Final = "draining"
NOT_YET: Final = "not yet draining"
MOST_FUNCTIONS: Final = 50


class WorkerView(Written):
    worker_id: str
    release: str | None
    version: str
    state: str
    slots: int
    busy: int
    busy_until: datetime | None
    functions: tuple[str, ...] = ()

    @classmethod
    def of(cls, worker: PresentWorker, current: str | None) -> Self:
        return cls(
            worker_id=worker.worker_id,
            release=worker.release,
            version=worker.version,
            state=_state(worker, current),
            slots=worker.slots,
            busy=worker.busy,
            busy_until=instant(worker.busy_until_ms),
            functions=worker.functions,
        )


class RolloutView(Written):
    stage: str
    current_release: str | None
    summary: str
    replaced_workers: int
    waits_for_tasks: int
    until: datetime | None
    workers: tuple[WorkerView, ...]

    @classmethod
    def of(cls, state: RolloutState, stage: Stage) -> Self:
        return cls(
            stage=stage,
            current_release=state.current,
            summary=_summary(state),
            replaced_workers=len(state.replaced),
            waits_for_tasks=state.waits_for_tasks,
            until=instant(state.until_ms),
            workers=tuple(WorkerView.of(worker, state.current) for worker in state.workers),
        )


def rollout_table(view: RolloutView) -> Group:
    return Group(heading(f"{view.stage}: {view.summary}"), *_workers(view), *_functions(view))


def _functions(view: RolloutView) -> Iterator[Text]:
    """Say which packages of functions are served, and by how many of the workers."""
    serving = Counter(code for worker in view.workers for code in dict.fromkeys(worker.functions))
    for code, count in sorted(serving.items())[:MOST_FUNCTIONS]:
        yield Text(clean(f"{code} is served by {count} of {counted(len(view.workers), 'worker')}"))


def _summary(state: RolloutState) -> str:
    until = instant(state.until_ms)
    return describe_rollout(state, until=f"{until:%H:%M} UTC" if until else "")


def _state(worker: PresentWorker, current: str | None) -> str:
    if worker.sick:
        return f"sick: {worker.sick}"
    if worker.draining:
        return DRAINING
    return NOT_YET if is_replaced(worker, current) else TAKES_TASKS


def _workers(view: RolloutView) -> Iterator[Table]:
    if not view.workers:
        return
    table = table_of("worker", "state", "busy", "until", "version", giving_way="release")
    for worker in view.workers:
        until = f"{worker.busy_until:%H:%M}" if worker.busy_until else ""
        table.add_row(
            clean(worker.worker_id),
            worker.state,
            f"{worker.busy} of {worker.slots}",
            until,
            clean(worker.version),
            cut_to_fit(worker.release or ""),
        )
    yield table
