"""`doctor`: is everything there that a stage needs, and what to do if not?"""

from collections.abc import Sequence
from typing import Annotated, Final, Self

import typer
from rich.console import Console
from rich.text import Text

from cli.commands.submission import agent_in
from cli.errors import SOMETHING_IS_WRONG
from cli.options import JsonOption
from cli.outside import Outside, outside_of
from cli.stages import Stage
from cli.terminal import clean, print_json, results
from switchyard.contracts.wire import Written
from switchyard.domain.health.diagnosis import Finding, Level

STYLES: Final = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "bold red"}

DoctorStageOption = Annotated[
    Stage,
    typer.Option(
        "--stage", help="Which. Stages other than local take your AWS credentials, to look only."
    ),
]


class FindingView(Written):
    subject: str
    level: Level
    said: str
    fix: str | None

    @classmethod
    def of(cls, finding: Finding) -> Self:
        return cls(subject=finding.subject, level=finding.level, said=finding.said, fix=finding.fix)


def doctor(
    context: typer.Context,
    *,
    stage: DoctorStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Examine a stage: each finding with what mends it; exit 1 if something is wrong.

    Credentials, stacks, secrets, workers and their image, what brings events and messages to
    functions, dead letters, and whether consumption is paused. Changes nothing.
    """
    outside = outside_of(context)
    findings = _of_local(outside) if stage is Stage.LOCAL else _of_account(stage, outside)
    if as_json:
        print_json([FindingView.of(finding) for finding in findings])
    else:
        _print_findings(findings, results())
    if any(finding.level is Level.FAIL for finding in findings):
        raise typer.Exit(SOMETHING_IS_WRONG)


def _of_account(stage: Stage, outside: Outside) -> list[Finding]:
    examiner = outside.examiner(stage.value, stage.option, None)
    account = examiner.of_account()
    if account[0].level is Level.FAIL:  # whoever is not let in sees nothing else
        return account
    return [*account, *examiner.of_stacks()]


def _of_local(outside: Outside) -> list[Finding]:
    status = outside.cloud.status()
    if not status.running:
        down = "the local cloud is not running"
        return [Finding("cloud", Level.FAIL, down, "switchyard up")]
    cloud = Finding("cloud", Level.OK, str(status.api_url))
    if not status.healthy:
        said = "it runs, but does not answer as it should"
        cloud = Finding("cloud", Level.FAIL, said, "switchyard up")
    worker = Finding("worker", Level.OK, f"process {status.worker_pid}")
    if status.worker_pid is None:
        worker = Finding("worker", Level.FAIL, "there is none", "switchyard up")
    agent = Finding("agent", Level.OK, agent_in(outside.environment))
    examiner = outside.examiner(Stage.LOCAL.value, Stage.LOCAL.option, outside.cloud.endpoint())
    return [cloud, worker, agent, *examiner.of_stacks()]


def _print_findings(findings: Sequence[Finding], console: Console) -> None:
    for finding in findings:
        level = (f"{finding.level:5}", STYLES[finding.level])
        line = Text.assemble(level, f"{finding.subject:14}", clean(finding.said))
        console.print(line, soft_wrap=True)
        if finding.fix:
            console.print(Text(f"     {'':14}→ {clean(finding.fix)}", style="dim"), soft_wrap=True)
