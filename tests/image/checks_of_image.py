"""What the image holds, before anything runs."""

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.image.deployment import Deployment
from tests.image.report import Report, require

WORKER, GROUP = 1001, 1000
AGENTS = range(20_000, 20_032)
"""The users of tasks, each with a group of the same number."""


def check_image(
    report: Report, deployment: Deployment, image: Mapping[str, Any], volumes: Mapping[str, Path]
) -> None:
    with report.check("the image declares a VOLUME at each mount point of the task definition"):
        require(sorted(image["Volumes"]), sorted(deployment.volumes))
    with report.check("the image's health check is the task definition's"):
        require(image["Healthcheck"]["Test"], ["CMD", *deployment.health_check])
    with report.check(f"on Fargate /work belongs to {WORKER}:{GROUP}, mode 0755"):
        require(owner_and_mode(volumes["/work"]), (WORKER, GROUP, "0755"))
    with report.check(f"on Fargate /tmp belongs to {WORKER}:{GROUP}, closed to tasks"):
        require(owner_and_mode(volumes["/tmp"]), (WORKER, GROUP, "0755"))


def owner_and_mode(path: Path) -> tuple[int, int, str]:
    status = path.stat()
    return status.st_uid, status.st_gid, f"{stat.S_IMODE(status.st_mode):04o}"
