"""What people do to measure a stage, with credentials of their own."""

from collections.abc import Iterator
from contextlib import contextmanager

from switchyard.adapters.aws_inspection import AwsInspection
from switchyard.adapters.cloudformation import CloudFormationOutputs
from switchyard.bootstrap.measuring import measurer
from switchyard.bootstrap.operators import reached
from switchyard.settings import MeasureSettings
from switchyard.usecases.measuring.measure import Measurer


@contextmanager
def stage_measurer(stage: str, **where: str) -> Iterator[Measurer]:
    """As with `stage_letters`."""
    with reached():
        outputs, shared = CloudFormationOutputs(**where), f"switchyard-{stage}-infrastructure"
        settings = MeasureSettings(
            stage=stage,
            state_table_name=outputs.of(shared, "StateTableName"),
            sqs_queue_url=outputs.of(shared, "TaskQueueUrl"),
            dead_letter_queue_urls=",".join(AwsInspection(stage, **where).dead_letter_queues()),
        )
        yield measurer(settings, **where)
