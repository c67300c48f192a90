"""The real outside."""

import os

from cli.outside import Outside
from local.cloud import REPOSITORY, LocalCloud
from local.home import Home
from switchyard.bootstrap import stage_endpoint, system_clock


def real_outside() -> Outside:
    folder = REPOSITORY / ".switchyard"
    return Outside(
        environment=os.environ,
        clock=system_clock(),
        cloud=LocalCloud(folder),
        worker_output=Home(folder).worker_output,
        deployed_url=stage_endpoint,
    )
