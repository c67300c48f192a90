"""The real outside. Only what talks to AWS itself imports boto3, and only once it is called."""

import os
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from cli.outside import Outside
from local.cloud import REPOSITORY, LocalCloud
from local.endpoint import Endpoint
from local.home import Home
from local.worker_log import WorkerLogFiles
from switchyard.clock import system_clock, system_ids
from switchyard.ports import Consumption, TaskOutput
from switchyard.usecases.access.api_keys import KeyMove, KeyRing
from switchyard.usecases.access.tenants import TenantOperator
from switchyard.usecases.health.check_tasks import TaskChecker
from switchyard.usecases.health.examine_stage import Examiner
from switchyard.usecases.health.watch_rollout import RolloutWatch
from switchyard.usecases.letters.kept_letters import KeptLetters
from switchyard.usecases.letters.watch_letter import LetterWatch
from switchyard.usecases.measuring.measure import Measurer
from switchyard.usecases.triggers.operate_triggers import TriggerOperator

LOCAL_FOLDER: Final = REPOSITORY / ".switchyard"


def real_outside() -> Outside:
    return Outside(
        environment=os.environ,
        clock=system_clock(),
        new_key=system_ids().new_secret,
        cloud=LocalCloud(LOCAL_FOLDER),
        worker_output=Home(LOCAL_FOLDER).worker_output,
        deployed_url=_deployed_url,
        api_keys=_api_keys,
        key_move=_key_move,
        kept_letters=_kept_letters,
        letter_watch=_letter_watch,
        consumption=_consumption,
        triggers=_triggers,
        tenants=_tenants,
        task_output=_task_output,
        checker=_checker,
        measurer=_measurer,
        rollout=_rollout,
        examiner=_examiner,
    )


def _deployed_url(stage: str) -> str:
    from switchyard.bootstrap import stage_endpoint  # noqa: PLC0415 - it imports boto3

    return stage_endpoint(stage)


def _api_keys(stage: str, local: Endpoint | None) -> AbstractContextManager[KeyRing]:
    from switchyard.bootstrap import stage_keys  # noqa: PLC0415

    return stage_keys(stage, **(local.connection if local else {}))


def _key_move(stage: str, local: Endpoint | None) -> AbstractContextManager[KeyMove]:
    from switchyard.bootstrap.operators import stage_key_move  # noqa: PLC0415

    return stage_key_move(stage, **(local.connection if local else {}))


def _kept_letters(stage: str, local: Endpoint | None) -> AbstractContextManager[KeptLetters]:
    from switchyard.bootstrap import stage_letters  # noqa: PLC0415

    return stage_letters(stage, **(local.connection if local else {}))


def _letter_watch(stage: str, local: Endpoint | None) -> AbstractContextManager[LetterWatch]:
    from switchyard.bootstrap.operators import stage_letter_watch  # noqa: PLC0415

    return stage_letter_watch(stage, **(local.connection if local else {}))


def _consumption(stage: str, local: Endpoint | None) -> AbstractContextManager[Consumption]:
    from switchyard.bootstrap import stage_consumption  # noqa: PLC0415

    return stage_consumption(stage, **(local.connection if local else {}))


def _triggers(stage: str, local: Endpoint | None) -> AbstractContextManager[TriggerOperator]:
    from switchyard.bootstrap.operators import stage_triggers  # noqa: PLC0415

    return stage_triggers(stage, **(local.connection if local else {}))


def _tenants(stage: str, local: Endpoint | None) -> AbstractContextManager[TenantOperator]:
    from switchyard.bootstrap.operators import stage_tenants  # noqa: PLC0415

    return stage_tenants(stage, **(local.connection if local else {}))


def _task_output(
    stage: str, local: Endpoint | None, request_id: str, since_ms: int
) -> AbstractContextManager[TaskOutput]:
    if local:  # its workers have logs of their own, beside the cloud
        return nullcontext(WorkerLogFiles(Home(LOCAL_FOLDER).log("worker"), request_id))
    from switchyard.bootstrap import stage_output  # noqa: PLC0415

    return stage_output(stage, request_id, since_ms=since_ms)


def _checker(stage: str, local: Endpoint | None) -> AbstractContextManager[TaskChecker]:
    from switchyard.bootstrap.inspection import stage_checker  # noqa: PLC0415

    return stage_checker(stage, **(local.connection if local else {}))


def _measurer(stage: str, local: Endpoint | None) -> AbstractContextManager[Measurer]:
    from switchyard.bootstrap.inspection import stage_measurer  # noqa: PLC0415

    return stage_measurer(stage, **(local.connection if local else {}))


def _rollout(stage: str, local: Endpoint | None) -> AbstractContextManager[RolloutWatch]:
    from switchyard.bootstrap.inspection import stage_rollout  # noqa: PLC0415

    return stage_rollout(stage, **(local.connection if local else {}))


def _examiner(stage: str, option: str, local: Endpoint | None) -> Examiner:
    from switchyard.bootstrap.inspection import stage_examiner  # noqa: PLC0415

    return stage_examiner(stage, option=option, **(local.connection if local else {}))
