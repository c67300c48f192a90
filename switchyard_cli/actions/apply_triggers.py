"""Apply the triggers of a file: check all of it, register its definitions, change its triggers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from switchyard.domain.errors import Problem
from switchyard.domain.nested_jobs.job_templates import used_first
from switchyard.domain.triggers.triggers import RuleRefused
from switchyard_cli.connections.trigger_operator import operator_of, tenant_for
from switchyard_cli.errors import CliError
from switchyard_cli.services import services_of
from switchyard_cli.terminal import clean, notices
from switchyard_local.errors import CloudError

if TYPE_CHECKING:
    import typer

    from switchyard.contracts.triggers import AppliedTrigger
    from switchyard.usecases.triggers.operate_triggers import TriggerOperator
    from switchyard_cli.files.trigger_file import SourcedTriggers, TriggerFile
    from switchyard_cli.stages import Stage


def owners_of(
    context: typer.Context, stage: Stage, tenant: str | None, file: TriggerFile
) -> list[str]:
    """Return the tenant of each trigger. Raise `BadInput` if it is not known."""
    return [tenant_for(context, stage, tenant or declared.tenant) for declared in file.triggers]


def apply_triggers(
    operator: TriggerOperator, read: SourcedTriggers, owners: Sequence[str]
) -> list[AppliedTrigger]:
    """Raise `InvalidFile`, before anything is changed unless EventBridge refuses a rule."""
    problems = _problems_of_stage(operator, read.content, owners)
    if problems:
        raise read.document.invalid(problems)
    _register(operator, read.content, owners)
    applied = []
    for index, (owner, declared) in enumerate(zip(owners, read.content.triggers, strict=True)):
        try:
            applied.append(operator.apply(owner, declared.trigger))
        except RuleRefused as error:
            raise read.document.invalid([Problem(("triggers", index), str(error))]) from error
    return applied


def check_triggers(
    context: typer.Context, stage: Stage, tenant: str | None, file: TriggerFile
) -> list[Problem]:
    """Find what would be refused, with what is registered on the stage if that can be read.

    The stage is asked only if a trigger names something that is not in the file.
    """
    from switchyard_cli.files.static_checks import definition_problems  # noqa: PLC0415

    problems = definition_problems(file.definitions)
    if not _needs_stage(file):
        return [*problems, *_never_fire(file, now_ms=services_of(context).clock.now_ms())]
    try:
        owners = owners_of(context, stage, tenant, file)
        with operator_of(context, stage) as operator:
            return [*problems, *_problems_of_stage(operator, file, owners)]
    except (CliError, CloudError) as error:
        said = f"Registered definitions and channels are not checked: {error}"
        notices().print(clean(said), style="dim", soft_wrap=True)
    return [*problems, *_never_fire(file, now_ms=services_of(context).clock.now_ms())]


def _needs_stage(file: TriggerFile) -> bool:
    return any(
        declared.channel is not None or declared.definitions - file.definitions.keys()
        for declared in file.triggers
    )


def _never_fire(file: TriggerFile, *, now_ms: int) -> Iterator[Problem]:
    from switchyard.contracts.triggers.checks import never_fires  # noqa: PLC0415

    for index, declared in enumerate(file.triggers):
        yield from _below(("triggers", index), never_fires(declared, now_ms=now_ms))


def _problems_of_stage(
    operator: TriggerOperator, file: TriggerFile, owners: Sequence[str]
) -> list[Problem]:
    problems: list[Problem] = []
    for name, definition in file.definitions.items():
        found = operator.problems_with_definition(name, definition)
        problems += _below(("definitions", name), found)
    for index, (owner, declared) in enumerate(zip(owners, file.triggers, strict=True)):
        found = operator.problems_with(owner, declared, brought=file.definitions)
        problems += _below(("triggers", index), found)
    return problems


def _below(place: tuple[str | int, ...], problems: Sequence[Problem]) -> list[Problem]:
    return [Problem((*place, *problem.path), problem.message) for problem in problems]


def _register(operator: TriggerOperator, file: TriggerFile, owners: Sequence[str]) -> None:
    for owner in dict.fromkeys(owners):
        for name in used_first({name: one.template for name, one in file.definitions.items()}):
            registered = operator.register(owner, name, file.definitions[name])
            said = f"{name} is registered for {owner} as version {registered.version}."
            notices().print(said, style="dim", soft_wrap=True)
