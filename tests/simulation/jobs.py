"""Jobs to run in a simulated harness: small graphs of every shape, for two tenants."""

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from switchyard.adapters.dynamodb.access.limits import DynamoDbOpenTasks
from switchyard.adapters.dynamodb.access.tenants import DynamoDbTenantStore
from switchyard.adapters.dynamodb.definition_store import DynamoDbDefinitionStore
from switchyard.adapters.dynamodb.job_intake import DynamoDbJobIntake
from switchyard.adapters.dynamodb.job_store import DynamoDbJobStore
from switchyard.adapters.dynamodb.payloads import DynamoDbPayloads
from switchyard.adapters.dynamodb.submission_keys import DynamoDbSubmissionKeys
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.contracts.definitions import TaskDefinition
from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.access.limits import WIDEST_CEILINGS
from switchyard.domain.states import Rule
from switchyard.usecases.access.limits import OpenTaskLimit
from switchyard.usecases.jobs.submit_job import Submitter
from tests.simulation.cloud.cloud import Seen

TENANTS = ("acme", "acme2")
"""One is a prefix of the other."""
RULES = (Rule.ALL_COMPLETED,) * 4 + (Rule.ALL_SETTLED, Rule.ANY_FAILED)


FANS_OUT: Final = 0.15
TOLERATED: Final = (0, 1, "50 %")
NESTS: Final = 0.12
NESTED: Final = {"kind": "job", "name": "nested"}
"""What makes a task a job of its own."""
TEMPLATE: Final = (
    ("a", (), Rule.ALL_COMPLETED),
    ("b", ("a",), Rule.ALL_COMPLETED),
    ("c", ("a", "b"), Rule.ANY_FAILED),
    ("d", ("b", "c"), Rule.ANY_COMPLETED),
)
"""The tasks of such a job, each with its parents and its rule."""


def the_template() -> TaskDefinition:
    """Return the definition of jobs that are tasks: it returns the list of its first task."""
    tasks = [
        {"taskId": name, "name": "scrape", "dependsOn": list(parents), "rule": rule}
        for name, parents, rule in TEMPLATE
    ]
    output = {"items": "${tasks.a.output.items}"}
    return TaskDefinition.model_validate({"kind": "job", "tasks": tasks, "output": output})


def over_the_list_of(parent: str, dice: random.Random) -> dict[str, object]:
    """Return what makes a task one for each item that its parent returns."""
    return {
        "forEach": f"${{tasks.{parent}.output.items}}",
        "input": "${item}",
        "tolerate": dice.choice(TOLERATED),
    }


@dataclass(frozen=True, slots=True)
class DrawnIds:
    dice: random.Random

    def new_job_id(self) -> str:
        return f"job-{uuid.UUID(int=self.dice.getrandbits(128), version=4)}"

    def new_worker_id(self) -> str:
        raise NotImplementedError

    def new_secret(self) -> str:
        raise NotImplementedError


def drawn_job(dice: random.Random, *, at_most: int) -> SubmitJob:
    names = [f"t{n}" for n in range(dice.randint(1, at_most))]
    tasks = []
    for number, name in enumerate(names):
        parents = dice.sample(names[:number], min(number, dice.choice((0, 1, 1, 2, 3))))
        rule = dice.choice(RULES) if parents else Rule.ALL_COMPLETED
        task = {"taskId": name, "name": "scrape", "dependsOn": parents, "rule": rule}
        fans_out = parents and dice.random() < FANS_OUT
        nests = not fans_out and dice.random() < NESTS
        more = over_the_list_of(parents[0], dice) if fans_out else NESTED if nests else {}
        tasks.append(task | more)
    return SubmitJob.model_validate({"name": "drawn", "tasks": tasks})


def a_limit(state: DynamoDbTable, seen: Seen) -> OpenTaskLimit:
    return OpenTaskLimit(
        open_tasks=DynamoDbOpenTasks(state),
        jobs=DynamoDbJobStore(state),
        clock=seen.node,
        most=WIDEST_CEILINGS.max_open_tasks,
    )


def submission(
    tenant: str, job: SubmitJob, dice: random.Random, *, key: str | None = None
) -> Callable[[Seen], None]:
    """What the API does with a request: it may die on the way."""

    def submit(seen: Seen) -> None:
        state = seen.table(seen.cloud.state)
        submitter = Submitter(
            intake=DynamoDbJobIntake(state, DynamoDbPayloads(state, seen.blobs())),
            jobs=DynamoDbJobStore(state),
            definitions=DynamoDbDefinitionStore(seen.table(seen.cloud.definitions)),
            submission_keys=DynamoDbSubmissionKeys(state),
            tenants=DynamoDbTenantStore(state),
            open_tasks=a_limit(state, seen),
            blobs=seen.blobs(),
            dispatches=seen.dispatches(),
            emitter=seen.emitter(),
            clock=seen.node,
            ids=DrawnIds(dice),
        )
        submitter.submit(tenant, job, key=key)

    return submit
