"""Build the real services. What a command does not use is not imported: boto3 above all."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from switchyard.clock import system_clock, system_ids
from switchyard_cli.connections.local_cloud import OnDemandLocalCloud
from switchyard_cli.services import Services
from switchyard_local.home import Home
from switchyard_local.source_tree import default_folder

if TYPE_CHECKING:
    from switchyard.ports import PauseSwitch, TaskOutput
    from switchyard.usecases.access.api_keys import KeyMove, KeyRing
    from switchyard.usecases.access.erase_tenant import TenantEraser
    from switchyard.usecases.access.tenants import TenantOperator
    from switchyard.usecases.dead_letters.parked_messages import ParkedMessages
    from switchyard.usecases.dead_letters.watch_redrive import RedriveWatch
    from switchyard.usecases.health.check_tasks import TaskChecker
    from switchyard.usecases.health.examine_stage import Examiner
    from switchyard.usecases.health.watch_rollout import RolloutWatch
    from switchyard.usecases.measuring.measure import Measurer
    from switchyard.usecases.scheduling.survey_pools import PoolSurvey
    from switchyard.usecases.triggers.operate_triggers import TriggerOperator
    from switchyard_local.endpoint import Endpoint


def real_services() -> Services:
    return Services(
        environment=os.environ,
        clock=system_clock(),
        new_key=system_ids().new_secret,
        cloud=OnDemandLocalCloud(default_folder()),
        worker_output=Home(default_folder()).worker_output,
        deployed_url=_deployed_url,
        api_keys=_api_keys,
        key_move=_key_move,
        parked_messages=_parked_messages,
        redrive_watch=_redrive_watch,
        pause_switch=_pause_switch,
        pools=_pools,
        triggers=_triggers,
        tenants=_tenants,
        eraser=_eraser,
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


def _parked_messages(stage: str, local: Endpoint | None) -> AbstractContextManager[ParkedMessages]:
    from switchyard.bootstrap import stage_parked_messages  # noqa: PLC0415

    return stage_parked_messages(stage, **(local.connection if local else {}))


def _redrive_watch(stage: str, local: Endpoint | None) -> AbstractContextManager[RedriveWatch]:
    from switchyard.bootstrap.operators import stage_redrive_watch  # noqa: PLC0415

    return stage_redrive_watch(stage, **(local.connection if local else {}))


def _pause_switch(stage: str, local: Endpoint | None) -> AbstractContextManager[PauseSwitch]:
    from switchyard.bootstrap import stage_pause_switch  # noqa: PLC0415

    return stage_pause_switch(stage, **(local.connection if local else {}))


def _pools(stage: str, local: Endpoint | None) -> AbstractContextManager[PoolSurvey]:
    from switchyard.bootstrap.stage_pools import stage_pools  # noqa: PLC0415

    return stage_pools(stage, **(local.connection if local else {}))


def _triggers(stage: str, local: Endpoint | None) -> AbstractContextManager[TriggerOperator]:
    from switchyard.bootstrap.operators import stage_triggers  # noqa: PLC0415

    return stage_triggers(stage, **(local.connection if local else {}))


def _eraser(stage: str, local: Endpoint | None) -> AbstractContextManager[TenantEraser]:
    from switchyard.bootstrap.operators import stage_eraser  # noqa: PLC0415

    return stage_eraser(stage, **(local.connection if local else {}))


def _tenants(stage: str, local: Endpoint | None) -> AbstractContextManager[TenantOperator]:
    from switchyard.bootstrap.operators import stage_tenants  # noqa: PLC0415

    return stage_tenants(stage, **(local.connection if local else {}))


def _task_output(
    stage: str, local: Endpoint | None, request_id: str, since_ms: int
) -> AbstractContextManager[TaskOutput]:
    if local:  # its workers have logs of their own, beside the cloud
        from switchyard_local.workers.log import WorkerLogFiles  # noqa: PLC0415

        return nullcontext(WorkerLogFiles(Home(default_folder()).log("worker"), request_id))
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
