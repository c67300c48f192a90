"""The real outside. Only what talks to AWS itself imports boto3, and only once it is called."""

import os
from contextlib import AbstractContextManager

from cli.outside import Outside
from local.cloud import REPOSITORY, LocalCloud
from local.endpoint import Endpoint
from local.home import Home
from switchyard.clock import system_clock
from switchyard.usecases.kept_letters import KeptLetters


def real_outside() -> Outside:
    folder = REPOSITORY / ".switchyard"
    return Outside(
        environment=os.environ,
        clock=system_clock(),
        cloud=LocalCloud(folder),
        worker_output=Home(folder).worker_output,
        deployed_url=_deployed_url,
        new_deployed_key=_new_deployed_key,
        kept_letters=_kept_letters,
    )


def _deployed_url(stage: str) -> str:
    from switchyard.bootstrap import stage_endpoint  # noqa: PLC0415 - it imports boto3

    return stage_endpoint(stage)


def _new_deployed_key(tenant: str, stage: str) -> str:
    from switchyard.bootstrap import new_api_key, stage_state_table  # noqa: PLC0415

    return new_api_key(tenant, state_table_name=stage_state_table(stage))


def _kept_letters(stage: str, local: Endpoint | None) -> AbstractContextManager[KeptLetters]:
    from switchyard.bootstrap import stage_letters  # noqa: PLC0415

    return stage_letters(stage, **(local.connection if local else {}))
