"""Many workers at one task: the table lets one of them have it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.dynamodb.task_graph import DynamoDbTaskGraph
from switchyard.adapters.dynamodb.task_leases import DynamoDbTaskLeases
from switchyard.adapters.parallel import OneByOne
from switchyard.domain.ids import TaskRef
from switchyard.domain.tasks.claim_refusals import Busy
from switchyard.ports import Claimed, ClaimRefused
from tests.builders import NOW_MS, a_plan, a_task
from tests.contract.backends import a_bucket
from tests.contract.clouds import Cloud, OneUpdateAtATime
from tests.fakes.tables import state_table

WORKERS = 8
ROUNDS = 100
ROUNDS_ONE_BY_ONE = 10  # nothing races there: the first to ask is first
PATIENCE_SECONDS = 30

Answer = Claimed | ClaimRefused | None


@pytest.fixture
def table(cloud: Cloud) -> DynamoDbTable:
    client = cloud.client("dynamodb")
    name = state_table(client, cloud.fresh("state"))
    if cloud.decides_and_writes_at_once:
        return cloud.table(name)
    return DynamoDbTable(OneUpdateAtATime(client), name, parallel=OneByOne())


@pytest.fixture
def tasks(cloud: Cloud, table: DynamoDbTable) -> list[TaskRef]:
    rounds = ROUNDS if cloud.decides_and_writes_at_once else ROUNDS_ONE_BY_ONE
    queued = [a_task(f"task-{number}") for number in range(rounds)]
    plan = replace(a_plan({"a": []}), tasks=tuple(queued), dependents={}, payloads={})
    DynamoDbJobIntake(table, DynamoDbPayloads(table, a_bucket(cloud))).write(plan)
    return [task.ref for task in queued]


def race_for(refs: list[TaskRef], table: DynamoDbTable) -> list[tuple[Answer, ...]]:
    """What each worker was answered, task by task; all ask for the same one together."""
    leases, together = DynamoDbTaskLeases(table), threading.Barrier(WORKERS)

    def claim_all(worker: int) -> list[Answer]:
        answers = []
        try:
            for ref in refs:
                together.wait(PATIENCE_SECONDS)
                answers.append(
                    leases.claim(ref, owner=f"worker-{worker}", now_ms=NOW_MS, lease_ms=45_000)
                )
        except Exception:
            together.abort()  # the others would wait for us
            raise
        return answers

    with ThreadPoolExecutor(WORKERS) as workers:
        return list(zip(*workers.map(claim_all, range(WORKERS)), strict=True))


def test_one_of_many_has_the_task_and_the_others_find_it_busy(
    table: DynamoDbTable, tasks: list[TaskRef]
) -> None:
    graph = DynamoDbTaskGraph(table)
    for ref, answers in zip(tasks, race_for(tasks, table), strict=True):
        (winner,) = [answer for answer in answers if isinstance(answer, Claimed)]
        losers = [answer for answer in answers if isinstance(answer, ClaimRefused)]
        assert len(losers) == WORKERS - 1
        assert all(isinstance(loser.decision, Busy) for loser in losers)
        assert {loser.task.owner for loser in losers} == {winner.lease.owner}
        stored = graph.find(ref)
        assert stored == winner.task
        assert (stored.attempt, stored.fence) == (1, 1)
