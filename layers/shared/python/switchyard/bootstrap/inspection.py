"""What looks at a deployed stage."""

from switchyard.adapters.aws_inspection import AwsInspection
from switchyard.bootstrap.operators import stage_consumption
from switchyard.domain.health.consumption import Pause
from switchyard.usecases.health.examine_stage import Examiner


def stage_examiner(stage: str, *, option: str, **where: str) -> Examiner:
    """`where` is what the environment would else say of region, endpoint and credentials."""

    def paused() -> Pause | None:
        with stage_consumption(stage, **where) as consumption:
            return consumption.paused()

    inspection = AwsInspection(stage, **where)
    return Examiner(stage=stage, option=option, inspection=inspection, paused=paused)
