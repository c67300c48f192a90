"""A worker that was away while others took its task over: whatever it does now changes nothing.

`ZOMBIE_INTERLEAVINGS=1000` tries more.
"""

import contextlib
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.parallel import OneByOne
from switchyard.adapters.s3 import S3BlobStore
from switchyard.domain.errors import LeaseLost, Unavailable
from switchyard.domain.ids import TaskRef
from switchyard.domain.states import TaskState
from switchyard.domain.tasks.task import Lease, Outcome
from switchyard.ports import Claimed
from tests.builders import a_plan
from tests.fakes.tables import BUCKET
from tests.simulation import checker
from tests.simulation.checks.history import History
from tests.simulation.cloud.cloud import Cloud
from tests.simulation.kernel.node import Node
from tests.simulation.kernel.world import World
from tests.simulation.weather import Weather

INTERLEAVINGS: Final = int(os.environ.get("ZOMBIE_INTERLEAVINGS", "100"))
WORKERS: Final = 3
LEASE_MS: Final = 10_000
ROUNDS: Final = 4
WEATHER: Final = Weather(answer_lost=0.05, frozen=0.05, throttled=0.02)

Step = Callable[[Lease], object]


class Contest:
    """Workers that compete for one task and often hold on to a lease for too long."""

    def __init__(self, seed: int) -> None:
        self.world = World(seed)
        self.cloud = Cloud(self.world, WEATHER, waking_events=())
        self.history = History(self.world, self.cloud)
        self.refused = 0
        self._ref = self._written()

    def run(self) -> None:
        nodes = [Node(self.world, f"worker-{n}") for n in range(WORKERS)]
        running = [node.start(lambda node=node: self._compete(node)) for node in nodes]  # type: ignore[misc]
        self.world.run_until(
            lambda: all(r.done() for r in running), look_every=60.0, at_most=3600.0
        )
        for answer in running:
            answer.result()
        self.world.end()

    def _compete(self, node: Node) -> None:
        seen = self.cloud.seen_by(node, origin="worker")
        leases = DynamoDbTaskLeases(seen.table(self.cloud.state))
        for number in range(ROUNDS):
            lease = self._claimed(leases, node, f"{node.name}/{number}")
            if lease is not None:
                for step in self._steps(leases, node):
                    self._try(step, lease)
            node.sleep(self.world.dice.uniform(0, 12))

    def _claimed(self, leases: DynamoDbTaskLeases, node: Node, owner: str) -> Lease | None:
        try:
            answer = leases.claim(self._ref, owner=owner, now_ms=node.now_ms(), lease_ms=LEASE_MS)
        except Unavailable:
            return None
        return answer.lease if isinstance(answer, Claimed) else None

    def _steps(self, leases: DynamoDbTaskLeases, node: Node) -> list[Step]:
        """Return steps in any order, some of them after the lease is over."""
        dice = self.world.dice
        completed, failed = Outcome(state=TaskState.COMPLETED), Outcome(state=TaskState.FAILED)
        known: list[Step] = [
            lambda lease: leases.renew(lease, lease_until_ms=node.now_ms() + LEASE_MS),
            lambda _lease: node.sleep(dice.uniform(0, 2 * LEASE_MS / 1000)),
            lambda lease: leases.release(
                lease, not_before_ms=0, now_ms=node.now_ms(), give_attempt_back=True
            ),
            lambda lease: leases.settle(lease, failed, output=None, now_ms=node.now_ms()),
            lambda lease: leases.settle(
                lease, completed, output={"fence": lease.fence}, now_ms=node.now_ms()
            ),
        ]
        return dice.choices(known, weights=(4, 6, 3, 1, 1), k=5)

    def _try(self, step: Step, lease: Lease) -> None:
        with contextlib.suppress(Unavailable):
            try:
                step(lease)
            except LeaseLost:
                self.refused += 1

    def _written(self) -> TaskRef:
        plan = a_plan({"only": []})
        start, only, end = plan.tasks
        tasks = (
            replace(start, state=TaskState.COMPLETED),
            replace(only, state=TaskState.QUEUED, waiting_on=frozenset()),
            end,
        )
        table = DynamoDbTable(self.cloud.dynamodb, self.cloud.state, parallel=OneByOne())
        payloads = DynamoDbPayloads(table, S3BlobStore(self.cloud.s3, BUCKET))
        DynamoDbJobIntake(table, payloads).write(replace(plan, tasks=tasks))
        return only.ref


def test_a_zombie_changes_nothing() -> None:
    refused = 0
    for seed in range(INTERLEAVINGS):
        contest = Contest(seed)
        contest.run()
        refused += contest.refused
        found = [
            *checker.completed_twice(contest.history),
            *checker.reopened(contest.history),
            *checker.changed_by_a_zombie(contest.history),
            *checker.beyond_their_attempts(contest.history),
            *checker.started_too_early(contest.history),
        ]
        assert found == [], f"seed {seed}"
    assert refused > INTERLEAVINGS
