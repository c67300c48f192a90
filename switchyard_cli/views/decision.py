"""Shows people what a held task waits for, before they decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from switchyard_cli.terminal import clean, heading
from switchyard_cli.views.values import print_value
from switchyard_cli.views.wording import cost

if TYPE_CHECKING:
    from rich.console import Console

    from switchyard.contracts.changes import DecisionView, ShownParent


def print_decision(decision: DecisionView, console: Console) -> None:
    question = decision.question or f"{decision.task_id} waits for a decision."
    console.print(heading(clean(question)), soft_wrap=True)
    until = f"{decision.held_until:%Y-%m-%d %H:%M} UTC" if decision.held_until else ""
    facts = {
        "job": decision.job_id,
        "until": f"{until}, then: {decision.on_timeout}" if until else "",
        "cost so far": cost(decision.job_cost_usd),
        "basis": decision.basis,
    }
    for name, value in facts.items():
        if value:
            console.print(Text.assemble((name.ljust(12), "dim"), clean(value)), soft_wrap=True)
    for parent in decision.parents:
        _print_parent(parent, console)


def _print_parent(parent: ShownParent, console: Console) -> None:
    console.print()
    beginning = ", the beginning of its output" if parent.shortened else ""
    console.print(heading(clean(f"{parent.task_id} ({parent.status}{beginning})")))
    if parent.output is not None:
        print_value(parent.output, console)
    if parent.files:
        console.print(Text.assemble(("files ", "dim"), clean(", ".join(parent.files))))
