"""The pools of a stage: for people, and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from rich.console import Group
from rich.text import Text

from switchyard.contracts.wire import Written
from switchyard_cli.terminal import clean, heading
from switchyard_cli.views.tables import cut_to_fit, table_of

if TYPE_CHECKING:
    from rich.table import Table

    from switchyard.usecases.scheduling.survey_pools import PoolState


class PoolView(Written):
    name: str
    kind: str
    workers: int
    slots: int
    busy: int
    subscriptions: dict[str, int]
    """Weights by group."""
    policy: str
    when_empty: str
    waiting: int
    running: int
    model: str | None
    min_workers: int
    max_workers: int
    queue: str

    @classmethod
    def of(cls, state: PoolState) -> Self:
        pool = state.pool
        return cls(
            name=pool.name,
            kind=pool.kind,
            workers=len(state.workers),
            slots=state.slots,
            busy=state.busy,
            subscriptions={one.group: one.weight for one in state.subscriptions},
            policy=pool.policy,
            when_empty=pool.when_empty,
            waiting=state.depth.waiting,
            running=state.depth.hidden,
            model=pool.model,
            min_workers=pool.min_workers,
            max_workers=pool.max_workers,
            queue=state.queue,
        )


def pools_table(states: Sequence[PoolState]) -> Table:
    columns = ("pool", "kind", "workers", "busy", "waiting", "policy", "when empty")
    table = table_of(*columns, giving_way="serves")
    for state in states:
        pool = state.pool
        table.add_row(
            pool.name,
            pool.kind,
            str(len(state.workers)),
            f"{state.busy} of {state.slots}",
            str(state.depth.waiting),
            pool.policy,
            pool.when_empty,
            cut_to_fit(_served(state)),
        )
    return table


def pool_details(state: PoolState) -> Group:
    pool = state.pool
    facts = table_of("", giving_way="")
    for name, value in (
        ("serves", _served(state)),
        ("policy", pool.policy),
        ("when empty", pool.when_empty),
        ("model", pool.model or "as each definition says"),
        ("workers", f"{len(state.workers)}, between {pool.min_workers} and {pool.max_workers}"),
        (
            "scaling",
            f"more above {pool.scale_up_threshold} tasks for each worker, "
            f"fewer below {pool.scale_down_threshold}",
        ),
        ("slots", f"{state.busy} of {state.slots} are busy ({state.saturation:.0f} %)"),
        ("queue", f"{state.depth.waiting} waiting, {state.depth.delayed} later: {state.queue}"),
    ):
        facts.add_row(name, cut_to_fit(value))
    workers = [
        Text(clean(f"  {one.worker_id}  {one.busy} of {one.slots} slots busy"))
        for one in state.workers
    ]
    return Group(heading(f"Pool {pool.name} ({pool.kind})"), facts, *workers)


def _served(state: PoolState) -> str:
    return ", ".join(map(str, state.subscriptions)) or "no group"
