"""`doctor`: is everything there that a stage needs, and what to do if not?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from switchyard.domain.errors import SwitchyardError
from switchyard.domain.health.diagnosis import Finding, Level
from switchyard_cli.errors import SOMETHING_IS_WRONG
from switchyard_cli.options import JsonOption
from switchyard_cli.services import Services, services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import clean, print_json, results

if TYPE_CHECKING:
    from rich.console import Console

    from switchyard_local.cloud import Status
    from switchyard_local.endpoint import Endpoint

STYLES: Final = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "bold red"}

DoctorStageOption = Annotated[
    Stage,
    typer.Option(
        "--stage", help="Which. Stages other than local take your AWS credentials, to look only."
    ),
]


def doctor(
    context: typer.Context,
    *,
    stage: DoctorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Examine a stage and say how to fix it.

    Credentials, stacks, secrets, workers and their image, what brings events and messages to
    functions, dead letters, and whether consumption is paused. Changes nothing.
    """
    from switchyard_cli.views.printed import FindingView

    services = services_of(context)
    findings = _of_local(services) if stage is Stage.LOCAL else _of_account(stage, services)
    if as_json:
        print_json([FindingView.of(finding) for finding in findings])
    else:
        _print_findings(findings, results())
    if any(finding.level is Level.FAIL for finding in findings):
        raise typer.Exit(SOMETHING_IS_WRONG)


def _of_account(stage: Stage, services: Services) -> list[Finding]:
    examiner = services.examiner(stage.value, stage.option, None)
    account = examiner.of_account()
    if account[0].level is Level.FAIL:  # without access nothing else can be examined
        return account
    return [*account, *examiner.of_stacks()]


def _of_local(services: Services) -> list[Finding]:
    status = services.cloud.status()
    if not status.running:
        down = "the local cloud is not running"
        return [Finding("cloud", Level.FAIL, down, "switchyard up")]
    cloud = Finding("cloud", Level.OK, str(status.api_url))
    if not status.healthy and status.worker_pid is not None:
        said = "it runs, but does not answer as it should"
        cloud = Finding("cloud", Level.FAIL, said, "switchyard up")
    endpoint = services.cloud.endpoint()
    examiner = services.examiner(Stage.LOCAL.value, Stage.LOCAL.option, endpoint)
    return [cloud, *_worker(status, services, endpoint), *examiner.of_stacks()]


def _worker(status: Status, services: Services, endpoint: Endpoint) -> list[Finding]:
    """Report the worker and its agent; one that has ended may have reported its agent before."""
    if status.worker_pid is None:
        return [Finding("worker", Level.FAIL, "there is none", "switchyard up")]
    worker = Finding("worker", Level.OK, f"process {status.worker_pid}")
    return [worker, *_agents(services, endpoint)]


def _agents(services: Services, endpoint: Endpoint) -> list[Finding]:
    """Report the agent of each worker as the worker itself reports it."""
    try:
        with services.rollout(Stage.LOCAL.value, endpoint) as watch:
            workers = watch.workers()
    except SwitchyardError as error:
        return [Finding("agent", Level.FAIL, str(error), "switchyard up")]
    if not workers:
        return [Finding("agent", Level.WARN, "no worker has reported yet", "switchyard up")]
    agents = dict.fromkeys((worker.backend, worker.version) for worker in workers)
    return [Finding("agent", Level.OK, _agent(*agent)) for agent in agents]


def _agent(backend: str | None, version: str) -> str:
    match backend:
        case None:
            return f"a worker of version {version} does not report its agent"
        case "offline":
            return "tasks are done by the offline agent, which makes up plausible answers"
    return f"tasks are done by Claude ({backend}), and cost money"


def _print_findings(findings: Sequence[Finding], console: Console) -> None:
    from rich.text import Text

    for finding in findings:
        level = (f"{finding.level:5}", STYLES[finding.level])
        line = Text.assemble(level, f"{finding.subject:14}", clean(finding.said))
        console.print(line, soft_wrap=True)
        if finding.fix:
            console.print(Text(f"     {'':14}→ {clean(finding.fix)}", style="dim"), soft_wrap=True)
