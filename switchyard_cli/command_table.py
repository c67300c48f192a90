"""List every command with its section and its help line.

`switchyard --help` reads this table alone; the module of a command is imported when the command is
used. A test compares the help lines with the docstrings of the commands.
"""

from typing import Final, NamedTuple

JOBS: Final = "Jobs"
STAGES: Final = "Stages"
THIS_MACHINE: Final = "This machine"
REFERENCE: Final = "Reference"


class Entry(NamedTuple):
    section: str
    name: str
    target: str
    """The command's `module:function` below `switchyard_cli.commands`."""
    help: str


class Group(NamedTuple):
    section: str
    name: str
    help: str
    commands: tuple[tuple[str, str], ...]
    """Names and targets."""
    callback: str | None = None
    """The target that runs when no command of the group is named."""


COMMANDS: Final[tuple[Entry | Group, ...]] = (
    Entry(JOBS, "run", "jobs.submit:run", "Run a job on this machine and show its progress."),
    Entry(JOBS, "submit", "jobs.submit:submit", "Submit a job."),
    Entry(JOBS, "add", "jobs.add:add", "Add tasks to a job that has not settled."),
    Entry(JOBS, "cancel", "jobs.cancel:cancel", "Cancel a job, or one task."),
    Entry(JOBS, "approvals", "jobs.approvals:approvals", "List approvals that wait for a person."),
    Entry(JOBS, "approve", "jobs.decide:approve", "Approve what a job waits for."),
    Entry(JOBS, "reject", "jobs.decide:reject", "Reject what a job waits for."),
    Entry(JOBS, "signal", "jobs.decide:signal", "Give a task the signal that it waits for."),
    Entry(
        JOBS,
        "redrive",
        "jobs.redrive:redrive",
        "Run tasks of a settled job again: those that did not complete, or all from a task on.",
    ),
    Entry(
        JOBS, "watch", "jobs.jobs:watch", "Follow a job until it settles; exit 0 if it completes."
    ),
    Entry(JOBS, "jobs", "jobs.jobs:jobs", "List jobs, newest first."),
    Entry(JOBS, "job", "jobs.jobs:job", "Show one job and its tasks."),
    Entry(
        JOBS, "task", "jobs.jobs:task", "Show one task: input, output, attempts, cost and files."
    ),
    Entry(JOBS, "logs", "jobs.logs:logs", "Print the output of a task's process."),
    Entry(JOBS, "artifacts", "jobs.artifacts:artifacts", "List or download the files of a task."),
    Entry(
        JOBS,
        "events",
        "jobs.events:events",
        "Read the event log of a job or a task, or search it by type, app and time.",
    ),
    Entry(
        JOBS,
        "verify",
        "jobs.verify:verify",
        "Rebuild a job from its events and compare it with the state table.",
    ),
    Group(
        JOBS,
        "definitions",
        "Register, list, show, compare and delete task definitions.",
        (
            ("put", "jobs.definitions:put"),
            ("push", "jobs.push:push"),
            ("list", "jobs.definitions:list_registered"),
            ("show", "jobs.definitions:show"),
            ("diff", "jobs.definitions:diff"),
            ("delete", "jobs.definitions:delete"),
        ),
    ),
    Group(
        JOBS,
        "queues",
        "Manage work queues, put items into them and list what failed.",
        (
            ("create", "jobs.queues:create"),
            ("list", "jobs.queues:list_created"),
            ("show", "jobs.queues:show"),
            ("change", "jobs.queues:change"),
            ("delete", "jobs.queues:delete"),
            ("put", "jobs.queue_items:put"),
            ("dead-letters", "jobs.queue_items:dead_letters"),
        ),
    ),
    Group(
        JOBS,
        "triggers",
        "Manage triggers: jobs that events and schedules start.",
        (
            ("apply", "stage.triggers:apply"),
            ("list", "stage.triggers:list_applied"),
            ("show", "stage.triggers:show"),
            ("enable", "stage.triggers:enable"),
            ("disable", "stage.triggers:disable"),
            ("fire", "stage.triggers_fire:fire"),
            ("delete", "stage.triggers:delete"),
        ),
    ),
    Entry(STAGES, "doctor", "stage.doctor:doctor", "Examine a stage and say how to fix it."),
    Entry(
        STAGES,
        "health",
        "stage.health:health",
        "Check the running tasks; exit 1 if one is stuck, late or makes no progress.",
    ),
    Entry(
        STAGES,
        "metrics",
        "stage.metrics:metrics",
        "Show queue depth, workers, rates, durations and cost of a stage.",
    ),
    Entry(STAGES, "pause", "stage.pause:pause", "Stop a stage's workers from claiming tasks."),
    Entry(STAGES, "resume", "stage.pause:resume", "Let a stage's workers claim tasks again."),
    Entry(
        STAGES,
        "rollout",
        "stage.rollout:rollout",
        "Show which release each worker runs, and what a deployment waits for.",
    ),
    Entry(
        STAGES,
        "smoke",
        "stage.smoke:smoke",
        "Run one task through a stage and show when each step happened.",
    ),
    Entry(
        STAGES,
        "reconcile",
        "stage.reconcile:reconcile",
        "After a restore, list the jobs that differ between event log and state table.",
    ),
    Group(
        STAGES,
        "pools",
        "List the pools of workers, and change what they serve.",
        (
            ("show", "stage.pools:show"),
            ("subscribe", "stage.pools:subscribe"),
            ("unsubscribe", "stage.pools:unsubscribe"),
        ),
        callback="stage.pools:all_pools",
    ),
    Group(
        STAGES,
        "dlq",
        "Inspect, redrive and discard messages that could not be handled.",
        (
            ("list", "stage.dlq:list_parked"),
            ("show", "stage.dlq:show"),
            ("redrive", "stage.dlq_redrive:redrive"),
            ("discard", "stage.dlq:discard"),
        ),
        callback="stage.dlq:by_its_cause",
    ),
    Group(
        STAGES,
        "keys",
        "Issue, list, revoke and move API keys.",
        (
            ("issue", "stage.keys:issue"),
            ("list", "stage.keys:list_issued"),
            ("revoke", "stage.keys:revoke"),
            ("move", "stage.keys:move"),
        ),
    ),
    Group(
        STAGES,
        "tenants",
        "Show and change what operators allow each tenant.",
        (
            ("show", "stage.tenants:show"),
            ("set", "stage.tenants:change"),
            ("weigh", "stage.tenants:weigh"),
            ("list", "stage.tenants:list_set"),
            ("erase", "stage.tenants_erase:erase"),
        ),
    ),
    Entry(
        THIS_MACHINE,
        "examples",
        "local.examples:examples",
        "List the examples, each with what it is for, or copy the named one here.",
    ),
    Entry(THIS_MACHINE, "up", "local.cloud:up", "Start the local cloud, or update it."),
    Entry(THIS_MACHINE, "down", "local.cloud:down", "Stop the local cloud and keep its data."),
    Entry(THIS_MACHINE, "status", "local.cloud:status", "Say whether the local cloud is up."),
    Entry(
        THIS_MACHINE,
        "work",
        "local.work:work",
        "Run a worker of the local cloud here, until a pool has no work left.",
    ),
    Entry(
        THIS_MACHINE,
        "supervise",
        "local.supervise:supervise",
        "Start and stop workers of the local cloud with its backlog, until Ctrl-C.",
    ),
    Entry(
        THIS_MACHINE,
        "invoke",
        "local.invoke:invoke",
        "Run a function's handler on this machine and print its answer.",
    ),
    Entry(
        THIS_MACHINE,
        "scenarios",
        "local.scenarios:scenarios",
        "Run failure scenarios of a queue against real workers.",
    ),
    Entry(
        REFERENCE,
        "docs",
        "reference.docs:docs",
        "Save the reference of the API as a page and open it in the browser.",
    ),
    Entry(
        REFERENCE,
        "schema",
        "reference.schema:schema",
        "Print the JSON Schema of job, trigger or definition files, for editors.",
    ),
)


def modules() -> list[str]:
    """Return the modules of all commands."""
    targets: list[str] = []
    for entry in COMMANDS:
        if isinstance(entry, Entry):
            targets.append(entry.target)
        else:
            targets += [target for _, target in entry.commands]
    found = {target.partition(":")[0] for target in targets}
    return sorted(f"switchyard_cli.commands.{module}" for module in found)
