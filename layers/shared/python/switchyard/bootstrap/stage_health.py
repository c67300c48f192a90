"""Looks at a stage's running tasks with credentials of one's own."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from switchyard.adapters import aws
from switchyard.adapters.cloudformation import CloudFormationOutputs
from switchyard.bootstrap.checking import task_checker
from switchyard.bootstrap.operators import reached
from switchyard.domain.health.health import HealthLimits
from switchyard.usecases.health.check_tasks import TaskChecker


@contextmanager
def stage_checker(stage: str, **where: str) -> Iterator[TaskChecker]:
    """By the limits of the stage; otherwise as with `stage_letters`."""
    with reached():
        outputs = CloudFormationOutputs(**where)
        shared = f"switchyard-{stage}-infrastructure"
        limits = outputs.of(f"switchyard-{stage}-health-check", "HealthLimits")
        yield task_checker(
            aws.client("dynamodb", **where),
            state=outputs.of(shared, "StateTableName"),
            definitions=outputs.of(shared, "TaskDefinitionsTableName"),
            limits=HealthLimits(**json.loads(limits)),
        )
