"""`make image-check`: build the worker's image without Docker, and run it as Fargate would."""

import platform
import re
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from switchyard_local.errors import CloudError
from switchyard_local.interrupts import signals_interrupt
from tests.image import downloads
from tests.image.checks_of_agent import check_agent
from tests.image.checks_of_image import check_image
from tests.image.checks_of_worker import check_refusal, check_worker
from tests.image.cloud import cloud_without_worker, deployed_environment
from tests.image.commands import CommandFailed
from tests.image.deployment import STAGE, Deployment
from tests.image.images import SUITE, Images
from tests.image.prerequisites import missing
from tests.image.report import Report, say
from tests.image.worker_container import WorkerContainers

MACHINES = {"x86_64": "linux/amd64", "aarch64": "linux/arm64"}
INTERRUPTED = 130


def main() -> int:
    problems = missing()
    if problems:
        sys.stderr.write("".join(f"{problem}\n" for problem in problems))
        return 1
    try:
        with signals_interrupt(), ExitStack() as cleaning:
            name = tempfile.TemporaryDirectory(prefix="switchyard-image-")
            folder = Path(cleaning.enter_context(name))
            folder.chmod(0o755)  # the container's users pass through it
            return check(folder, cleaning)
    except (CommandFailed, CloudError, AssertionError) as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted: what was started is removed again.\n")
        return INTERRUPTED


def check(folder: Path, cleaning: ExitStack) -> int:
    say(f"Synthesizing the stage {STAGE}, which stages the image's asset")
    deployment = Deployment.synthesized(folder / "cdk.out")
    images = Images(folder / "images")
    cleaning.callback(images.remove)
    built = build(images, deployment, folder)
    say(f"The image has {built}; starting a local cloud")
    containers = WorkerContainers(deployment, images.configuration(), images.mount(), folder)
    cloud = cleaning.enter_context(cloud_without_worker(folder / "cloud"))
    deployed = deployed_environment(cloud)
    report = Report()
    (folder / "volumes").mkdir()
    check_image(report, deployment, containers.image, containers.volumes(folder / "volumes"))
    check_worker(report, containers, cloud, deployed)
    check_agent(report, containers, cloud, deployed)
    check_refusal(report, containers, deployed)
    return report.end()


def build(images: Images, deployment: Deployment, folder: Path) -> str:
    """Build the staged asset on a base that is made here; return the image's size."""
    asset = deployment.asset
    base = base_of((asset.folder / asset.dockerfile).read_text())
    say(f"Making a base image: Debian {SUITE} with Python 3.13, in place of {base}")
    images.make_base(f"docker.io/library/{base}")
    machine = MACHINES[platform.machine()]
    instead = "" if machine == asset.platform else f", although the stage says {asset.platform}"
    say(f"Building the staged asset for {machine}{instead}")
    images.build(asset, platform=machine, volumes=downloads.mounts(folder))
    return f"{images.size()}, of which the base {images.size(f'docker.io/library/{base}')}"


def base_of(dockerfile: str) -> str:
    (base,) = re.findall(r"^FROM (\S+)$", dockerfile, re.MULTILINE)
    return str(base)


if __name__ == "__main__":
    sys.exit(main())
