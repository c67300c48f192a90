"""The real outside. Only what talks to AWS itself imports boto3, and only once it is called."""

import os
from contextlib import AbstractContextManager

from cli.outside import Outside
from local.cloud import REPOSITORY, LocalCloud
from local.endpoint import Endpoint
from local.home import Home
from switchyard.clock import system_clock, system_ids
from switchyard.usecases.api_keys import KeyRing
from switchyard.usecases.kept_letters import KeptLetters


def real_outside() -> Outside:
    folder = REPOSITORY / ".switchyard"
    return Outside(
        environment=os.environ,
        clock=system_clock(),
        new_key=system_ids().new_secret,
        cloud=LocalCloud(folder),
        worker_output=Home(folder).worker_output,
        deployed_url=_deployed_url,
        api_keys=_api_keys,
        kept_letters=_kept_letters,
    )


def _deployed_url(stage: str) -> str:
    from switchyard.bootstrap import stage_endpoint  # noqa: PLC0415 - it imports boto3

    return stage_endpoint(stage)


def _api_keys(stage: str, local: Endpoint | None) -> AbstractContextManager[KeyRing]:
    from switchyard.bootstrap import stage_keys  # noqa: PLC0415

    return stage_keys(stage, **(local.connection if local else {}))


def _kept_letters(stage: str, local: Endpoint | None) -> AbstractContextManager[KeptLetters]:
    from switchyard.bootstrap import stage_letters  # noqa: PLC0415

    return stage_letters(stage, **(local.connection if local else {}))
