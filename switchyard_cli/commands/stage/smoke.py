"""`smoke`: does a deployed stage run a task, from the API to the event log?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from switchyard.domain.ids import SMOKE_TENANT
from switchyard_cli.connections.api import Api
from switchyard_cli.connections.endpoints import endpoint_with
from switchyard_cli.connections.operators import local_endpoint
from switchyard_cli.errors import SOMETHING_IS_WRONG
from switchyard_cli.options import JsonOption
from switchyard_cli.services import Services, services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import clean, notices, print_json, results
from switchyard_cli.views.wording import duration
from switchyard_local.interrupts import held_back, signals_interrupt

if TYPE_CHECKING:
    from rich.console import Console

    from switchyard_cli.actions.smoke_check import Reached, SmokeCheck
    from switchyard_cli.views.printed import SmokeReport


TEN_MINUTES: Final = 600

SmokeStageOption = Annotated[
    Stage,
    typer.Option(
        "--stage",
        help="Which. Stages other than local take your AWS credentials, which must be allowed to "
        "use the stage's table of API keys, and the URL from SWITCHYARD_API_URL or the stack.",
    ),
]
TimeoutOption = Annotated[
    int,
    typer.Option(
        min=1,
        metavar="SECONDS",
        help="For how long to wait: workers may have to come from nothing and pull their image.",
    ),
]


def smoke(
    context: typer.Context,
    *,
    timeout: TimeoutOption = TEN_MINUTES,
    stage: SmokeStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Run one task through a stage and show when each step happened.

    `make deploy` does this after each deployment, for a stage without tasks has no worker and its
    deployment proves nothing. The task belongs to a tenant of its own and costs no tokens; the API
    key that is issued for it is revoked at the end, whatever happens.
    """
    from switchyard_cli.actions.smoke_check import SmokeCheck, StepFailed
    from switchyard_cli.views.printed import SmokeReport

    services = services_of(context)
    console = notices() if as_json else results()
    check = SmokeCheck(
        clock=services.clock,
        timeout_seconds=timeout,
        report=lambda reached: _print_step(reached, console),
        workers_present=lambda: _workers_present(stage, services),
    )
    failed = None
    try:
        with signals_interrupt(), _short_lived_key(check, stage, services) as key:
            endpoint = endpoint_with(key, stage, services)
            with Api(endpoint, services.transport) as api:
                check.run(api, submission_key=services.new_key())
    except StepFailed as failure:
        failed = failure
    report = SmokeReport.of(check, stage, failed)
    if as_json:
        print_json(report)
    else:
        _print_report(report, console)
    if not report.passed:
        raise typer.Exit(SOMETHING_IS_WRONG)


@contextmanager
def _short_lived_key(check: SmokeCheck, stage: Stage, services: Services) -> Iterator[str]:
    """Revoke it at the end of the block, also after a failure and after Ctrl-C."""
    from switchyard.usecases.access.api_keys import id_of_key
    from switchyard_cli.actions.smoke_check import Step, StepFailed, advice

    with check.taking(Step.KEY):
        local = local_endpoint(stage, services)
        with services.api_keys(stage.value, local) as keys:
            key = keys.issue(SMOKE_TENANT, label="smoke check")

    def revoke() -> None:
        with (
            held_back(),
            check.taking(Step.REVOKED),
            services.api_keys(stage.value, local) as keys,
        ):
            keys.revoke(SMOKE_TENANT, id_of_key(key))

    try:
        yield key
    except BaseException:
        try:
            revoke()
        except StepFailed as failure:  # what went wrong first is reported, this beside it
            look_at = advice(Step.REVOKED, stage, tenant=SMOKE_TENANT)
            said = f"The API key is not revoked: {failure.problem} {look_at}"
            notices().print(clean(said), style="red", soft_wrap=True)
        raise
    revoke()


def _workers_present(stage: Stage, services: Services) -> int:
    with services.rollout(stage.value, local_endpoint(stage, services)) as watch:
        return len(watch.workers())


def _print_step(reached: Reached, console: Console) -> None:
    from rich.text import Text

    line = Text.assemble(("✔ ", "green"), f"{duration(reached.seconds):>12}  ", reached.step)
    console.print(line)


def _print_report(report: SmokeReport, console: Console) -> None:
    from rich.text import Text

    if report.passed:
        console.print(
            f"The stage {report.stage} works: one task ran in it, from the API to the log."
        )
        return
    failed = Text.assemble(("✘ ", "bold red"), f"{'':>12}  {report.failed_step}: ")
    console.print(failed.append(clean(report.problem or "")), soft_wrap=True)
    console.print(clean(report.look_at or ""), soft_wrap=True)
