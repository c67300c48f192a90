"""The worker in its container: who it is, what it does, how it stops."""

import signal
from collections.abc import Mapping
from pathlib import Path

import psutil
import yaml

from tests.e2e.conftest import RunningCloud
from tests.e2e.documents import a_job, scripted
from tests.e2e.patience import eventually
from tests.image.checks_of_image import AGENTS, GROUP, WORKER, owner_and_mode
from tests.image.container import Container
from tests.image.deployment import ROOT
from tests.image.processes import NONE, privileges_of
from tests.image.report import Report, require
from tests.image.volumes import empty_volume
from tests.image.worker_container import WorkerContainers

HELD = frozenset({"KILL", "SETGID", "SETUID"})
MISCONFIGURED = 2
LONG_TASK_MS = 6_000


def check_worker(
    report: Report, containers: WorkerContainers, cloud: RunningCloud, deployed: Mapping[str, str]
) -> None:
    with report.check("the container has the variables that the task definition names, and AWS's"):
        expected = containers.deployment.variables.keys() - {"ANTHROPIC_API_KEY"}
        require(sorted(expected - deployed.keys()), [])
    with containers.started(deployed) as container:
        _check_start(report, containers, container)
        with report.check("the example job completes"):
            document = yaml.safe_load((ROOT / "examples/brand-analysis.yaml").read_text())
            require(cloud.settled(cloud.submit(document)).status, "completed")
        _check_child_and_stop(report, container, cloud)


def check_refusal(
    report: Report, containers: WorkerContainers, deployed: Mapping[str, str]
) -> None:
    what = f"a /work that is root's: a sentence, and exit code {MISCONFIGURED}"
    roots = empty_volume(containers.folder / "roots")
    with report.check(what), containers.started(deployed, volumes={"/work": roots}) as container:
        require(container.exit_code(seconds=60), MISCONFIGURED)
        sentence = container.output().strip()
        require(len(sentence.splitlines()), 1)
        beginning = f"OUTPUT_FOLDER is '/work/output', where user {WORKER} cannot write"
        require(sentence[: len(beginning)], beginning)


def _check_start(report: Report, containers: WorkerContainers, container: Container) -> None:
    with report.check("the health check of the task definition passes"):
        eventually(lambda: _healthy(container, containers.deployment.health_check), "no pulse")
    with report.check(f"PID 1 is {WORKER}:{GROUP} with {', '.join(sorted(HELD))} and nothing else"):
        found = privileges_of(container.first_process().pid)
        require((found.user, found.group), (WORKER, GROUP))
        require(found.capabilities, dict.fromkeys(found.capabilities, HELD))
    with report.check("the root file system is read-only"):
        tried = container.run([*containers.image["Entrypoint"], "touch", "/app/file"])
        require("Read-only file system" in tried.stderr, True)


def _healthy(container: Container, command: list[str]) -> bool | None:
    if container.process.poll() is not None:
        raise AssertionError(f"the container has ended: {container.output()[-500:]}")
    return container.run(command).returncode == 0 or None


def _check_child_and_stop(report: Report, container: Container, cloud: RunningCloud) -> None:
    job_id = cloud.submit(a_job({"taskId": "long", **scripted(delayMs=LONG_TASK_MS)}))
    with report.check("a child is a user of its own, without capabilities and with no_new_privs"):
        child = eventually(lambda: _agents_process(container), "no child was started")
        found = privileges_of(child.pid)
        require(found.user in AGENTS and found.user == found.group, True)
        require(found.no_new_privileges, True)
        held = {name: value for name, value in found.capabilities.items() if name != "CapBnd"}
        require(held, dict.fromkeys(held, NONE))
    with report.check("the child's HOME is a folder of its task, and its own alone"):
        home = child.environ()["HOME"]
        require(home, f"{child.cwd()}/home")
        owned = owner_and_mode(Path(f"/proc/{child.pid}/root{home}"))
        require(owned, (found.user, found.user, "0700"))
    with report.check("SIGTERM to PID 1: the running task is finished, and the exit code is 0"):
        container.signal(signal.SIGTERM)
        require(container.exit_code(), 0)
        require(cloud.settled(job_id).status, "completed")


def _agents_process(container: Container) -> psutil.Process | None:
    """Return the child of the worker that does a task, once it is started."""
    for process in container.first_process().children(recursive=True):
        command = process.cmdline()
        if "switchyard_worker.child" in command and "setpriv" not in command:
            return process
    return None
