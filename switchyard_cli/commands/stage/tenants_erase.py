"""`tenants erase`: deletes everything that is stored of a tenant, with a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from switchyard_cli.commands.stage.tenants import TenantArgument
from switchyard_cli.connections.operators import local_endpoint, operating
from switchyard_cli.errors import BadInput
from switchyard_cli.options import JsonOption
from switchyard_cli.services import services_of
from switchyard_cli.stages import Stage
from switchyard_cli.terminal import clean, notices, print_json, results
from switchyard_cli.views.wording import counted

if TYPE_CHECKING:
    from switchyard_cli.views.printed import ErasureReport

EraseStageOption = Annotated[
    Stage,
    typer.Option(
        "--stage",
        help="Where. Stages other than local take your AWS credentials, which must be allowed to "
        "read and delete in the stage's tables and its bucket, and to delete EventBridge rules.",
    ),
]
MAX_NAMED: Final = 3
SINGULARS: Final = {
    "dependencies": "dependency",
    "inputs and outputs": "input or output",
    "objects in the bucket": "object in the bucket",
    "settings": "settings",
    "triggers with their rules": "trigger with its rule",
}
"""Maps kinds whose plural is more than an added letter to their singular."""
YesOption = Annotated[bool, typer.Option("--yes", help="Delete. Without it only counts are shown.")]


def erase(
    context: typer.Context,
    tenant: TenantArgument,
    *,
    yes: YesOption = False,
    stage: EraseStageOption = Stage.LOCAL,
    as_json: JsonOption = False,
) -> None:
    """Erase a tenant: its keys, jobs, definitions, triggers, events and files. Counts by default.

    Refused while jobs are open; the answer names the command that cancels them. It may be
    repeated: the same command erases what is left.
    """
    from switchyard.domain.access.erasure import NOT_ERASED
    from switchyard.usecases.access.erase_tenant import TenantHasOpenJobs
    from switchyard_cli.views.printed import ErasureReport

    services = services_of(context)
    with (
        operating(f"The tenants of the stage {stage} are"),
        services.eraser(stage.value, local_endpoint(stage, services)) as eraser,
        notices().status("Reading …") as status,
    ):

        def show(counts: Mapping[str, int]) -> None:
            status.update(f"{'Erased' if yes else 'Found'} {sum(counts.values()):,} …")

        try:
            counts = (eraser.erase if yes else eraser.count)(tenant, show)
        except TenantHasOpenJobs as refused:
            raise BadInput(_to_cancel(tenant, stage, refused.job_ids)) from refused
    report = ErasureReport(tenant=tenant, erased=yes, counts=dict(counts), not_erased=NOT_ERASED)
    if as_json:
        print_json(report)
    else:
        _print(report)


def _to_cancel(tenant: str, stage: Stage, job_ids: Sequence[str]) -> str:
    """Say how to cancel each open job first: an operator should see which jobs end."""
    named = ", ".join(map(clean, job_ids[:MAX_NAMED]))
    more = f" and {len(job_ids) - MAX_NAMED:,} more" if len(job_ids) > MAX_NAMED else ""
    return (
        f"{tenant} has {counted(len(job_ids), 'open job')}, and nothing was erased: {named}{more}. "
        f"Cancel each with `switchyard cancel JOB --wait{stage.option}` and a key of the tenant "
        f"(`switchyard keys issue {tenant}{stage.option}`), then repeat this command."
    )


def singular_of(kind: str) -> str:
    return SINGULARS.get(kind) or kind.removesuffix("s")


def _print(report: ErasureReport) -> None:
    for kind, number in report.counts.items():
        noun = singular_of(kind) if number == 1 else kind
        results().print(f"{number:>9,}  {noun}", soft_wrap=True, highlight=False)
    if not report.counts:
        results().print(f"Nothing is stored of {report.tenant}.")
    elif report.erased:
        results().print(f"{report.tenant} is erased.")
    else:
        notices().print("Nothing was changed: --yes erases it.", style="dim", soft_wrap=True)
    notices().print(report.not_erased, style="dim", soft_wrap=True)
