"""The `switchyard` command: which commands there are, and how each failure ends."""

import sys
from io import TextIOWrapper
from typing import Any, Final

import typer
from typer.core import TyperGroup

from cli.commands import (
    adding,
    braking,
    changing,
    cloud,
    definitions,
    dlq,
    dlq_redrive,
    doctor,
    events,
    files,
    firing,
    health,
    invoking,
    jobs,
    keys,
    metrics,
    reconciling,
    rollout,
    scenarios,
    smoke,
    submission,
    supervising,
    tenants,
    triggers,
)
from cli.errors import CliError, Interrupted, Unreachable, exit_code_of
from cli.terminal import notices
from cli.wiring import real_outside
from local.errors import CloudError, refused_by_system
from local.say import heard_or_not
from switchyard.client import ClientError
from switchyard.domain.text import without_control_characters

EXIT_CODES: Final = (
    "Exit codes: 0 done, 1 the job did not complete or does not agree with its log, definitions "
    "differ, a function or a scenario failed, or a stage or one of its tasks is not well, 2 bad "
    "input or usage, "
    "3 the API or the local cloud cannot be reached, 130 interrupted."
)


class Commands(TyperGroup):
    """Turns every failure a user can cause into a sentence and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (CliError, ClientError) as error:
            raise _ended_by(error) from error
        except CloudError as error:
            raise _ended_by(Unreachable(str(error))) from error
        except BrokenPipeError:
            raise  # nobody reads on, as with `| head`: Typer ends quietly
        except OSError as error:
            raise _ended_by(Unreachable(refused_by_system(error))) from error
        except KeyboardInterrupt as error:
            raise _ended_by(Interrupted("Interrupted.")) from error


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)
definitions_app = typer.Typer(
    no_args_is_help=True, help="Task definitions: what tasks can be asked to do."
)
keys_app = typer.Typer(no_args_is_help=True, help="API keys: who may use a stage.")
tenants_app = typer.Typer(no_args_is_help=True, help="Tenants: what operators allow each.")
dlq_app = typer.Typer(invoke_without_command=True, callback=dlq.by_its_cause)
triggers_app = typer.Typer(
    no_args_is_help=True, help="Triggers: jobs that events and schedules start."
)


@app.callback()
def prepare(context: typer.Context) -> None:
    """Run fleets of Claude agents: a job is a graph of tasks, each done by an agent.

    Start here: switchyard run examples/brand-analysis.yaml
    """
    if context.obj is None:
        context.obj = real_outside()


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ✔ shows ? instead
    app(prog_name="switchyard")


def _ended_by(error: CliError | ClientError) -> typer.Exit:
    _complain(without_control_characters(str(error)))
    return typer.Exit(exit_code_of(error))


@heard_or_not
def _complain(sentence: str) -> None:
    notices().print(sentence, style="red", soft_wrap=True)


app.command()(submission.run)
app.command()(submission.submit)
app.command()(adding.add)
app.command()(changing.cancel)
app.command()(changing.redrive)
app.command()(jobs.watch)
app.command()(jobs.jobs)
app.command()(jobs.job)
app.command()(jobs.task)
app.command()(files.logs)
app.command()(files.artifacts)
app.command()(events.events)
app.command()(events.verify)
app.command()(reconciling.reconcile)
app.add_typer(definitions_app, name="definitions")
definitions_app.command("put")(definitions.put)
definitions_app.command("list")(definitions.list_registered)
definitions_app.command("show")(definitions.show)
definitions_app.command("diff")(definitions.diff)
definitions_app.command("delete")(definitions.delete)
app.add_typer(keys_app, name="keys")
keys_app.command("issue")(keys.issue)
keys_app.command("list")(keys.list_issued)
keys_app.command("revoke")(keys.revoke)
keys_app.command("move")(keys.move)
app.add_typer(tenants_app, name="tenants")
tenants_app.command("show")(tenants.show)
tenants_app.command("set")(tenants.change)
tenants_app.command("list")(tenants.list_set)
app.add_typer(dlq_app, name="dlq")
dlq_app.command("list")(dlq.list_kept)
dlq_app.command("show")(dlq.show)
dlq_app.command("redrive")(dlq_redrive.redrive)
dlq_app.command("discard")(dlq.discard)
app.add_typer(triggers_app, name="triggers")
triggers_app.command("apply")(triggers.apply)
triggers_app.command("list")(triggers.list_applied)
triggers_app.command("show")(triggers.show)
triggers_app.command("enable")(triggers.enable)
triggers_app.command("disable")(triggers.disable)
triggers_app.command("fire")(firing.fire)
triggers_app.command("delete")(triggers.delete)
app.command()(braking.pause)
app.command()(braking.resume)
app.command()(doctor.doctor)
app.command()(metrics.metrics)
app.command()(rollout.rollout)
app.command()(smoke.smoke)
app.command()(health.health)
app.command()(invoking.invoke)
app.command()(scenarios.scenarios)
app.command()(cloud.up)
app.command()(cloud.down)
app.command()(cloud.status)
app.command()(supervising.supervise)
