"""Waits for workers that were asked to end, and reports how many tasks hold them up."""

from collections.abc import Sequence
from typing import Final

import psutil

from switchyard_local.processes.process import TASK, ask_to_end, count_children, wait_until_ended
from switchyard_local.say import Say

STOP_SECONDS: Final = 120.0  # what Fargate gives a worker
REPORT_SECONDS: Final = 10.0
HAND_BACK_SECONDS: Final = 15.0
"""What an interrupted stop gives a worker to hand back its tasks; a child ends within 5 s."""


def end_workers(
    processes: Sequence[psutil.Process],
    say: Say,
    *,
    stop_seconds: float = STOP_SECONDS,
    report_seconds: float = REPORT_SECONDS,
) -> None:
    """Ask all of them to end before the first is waited for; return when the time is over.

    A worker finishes what it can in most of that time, and hands back the rest. An interruption
    makes it hand back everything, and is raised afterwards.
    """
    if not processes:
        return
    say(_announced(_tasks_of(processes), stop_seconds))
    ask_to_end(processes)
    try:
        _wait(processes, say, stop_seconds=stop_seconds, report_seconds=report_seconds)
    except KeyboardInterrupt:
        say("The worker hands back what it runs. Ctrl-C again kills it")
        ask_to_end(processes)
        wait_until_ended(processes, timeout_seconds=HAND_BACK_SECONDS)
        raise


def _wait(
    processes: Sequence[psutil.Process], say: Say, *, stop_seconds: float, report_seconds: float
) -> None:
    left = stop_seconds
    while not wait_until_ended(processes, timeout_seconds=min(report_seconds, left)):
        left -= report_seconds
        if left <= 0:
            return
        say(f"{_still_running(_tasks_of(processes))}: {left:.0f} s more at most. Ctrl-C hurries it")


def _tasks_of(processes: Sequence[psutil.Process]) -> int:
    return sum(count_children(process, TASK) for process in processes)


def _announced(tasks: int, seconds: float) -> str:
    if not tasks:
        return "Stopping the worker: it runs no task"
    them = "it" if tasks == 1 else "them"
    return (
        f"Stopping the worker: {_still_running(tasks)}. It finishes {them} or hands {them} back "
        f"within {seconds:.0f} s. Ctrl-C hands {them} back at once, which costs no attempt"
    )


def _still_running(tasks: int) -> str:
    match tasks:
        case 0:
            return "The worker is ending"
        case 1:
            return "1 task still runs"
    return f"{tasks} tasks still run"
