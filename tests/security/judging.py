"""Decides from what was observed of an attack whether it was held, and says why."""

import re
from dataclasses import dataclass, field
from typing import Final

from tests.security.attack import LONGEST_PAUSE_MS, Attack, Group, Trace
from tests.security.observed import Observed
from tests.security.planted_secrets import CREDENTIALS

PAGES: Final = ("text/html", "image/svg+xml", "application/xhtml+xml", "text/xml")
_CHILD: Final = re.compile(r'"child started".*?"user":\s*(\d+)')


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One attack, what happened, and every figure that is not as it must be."""

    name: str
    group: Group
    happened: str
    faults: list[str] = field(default_factory=list)
    pause_ms: int | None = None
    raw_pause_ms: int | None = None
    machine_ms: int | None = None
    credentials: list[str] = field(default_factory=list)
    foreign_bytes: list[str] = field(default_factory=list)
    trace: Trace | None = None
    """Where it is visible; `None` if it is nowhere."""

    @property
    def held(self) -> bool:
        return not self.faults


def judge(attack: Attack, seen: Observed, *, with_users: bool = True) -> Judged:
    credentials = [name for name in seen.leaked if name in CREDENTIALS]
    foreign = [name for name in seen.leaked if name not in CREDENTIALS]
    trace = _trace(attack, seen)
    faults = [
        *(f"obtained {name}" for name in seen.leaked),
        *_faults_of_program(attack, seen),
        *_faults_of_worker(attack, seen, with_users=with_users),
        *([] if trace else [f"not visible: no line or error matches {attack.shows!r}"]),
    ]
    return Judged(
        name=attack.name,
        group=attack.group,
        happened=_happened(seen),
        faults=faults,
        pause_ms=seen.pause_ms,
        raw_pause_ms=seen.raw_pause_ms,
        machine_ms=seen.machine_ms,
        credentials=credentials,
        foreign_bytes=foreign,
        trace=trace,
    )


def _faults_of_program(attack: Attack, seen: Observed) -> list[str]:
    faults = [text for text in seen.happened if text.startswith("SUCCEEDED")]
    if attack.must_be_refused and not any(text.startswith("refused") for text in seen.happened):
        faults.append(f"was not refused: {seen.happened or seen.errors}")
    if attack.cap_usd is not None and seen.cost_usd > attack.cap_usd:
        faults.append(f"cost ${seen.cost_usd:.4f}, more than ${attack.cap_usd}")
    faults += [f"the log contains {text[:40]!r}" for text in attack.hides if text in seen.log]
    faults += [f"{name} is a page" for name, kind in seen.uploaded.items() if kind in PAGES]
    if attack.uploads is not None:
        artifacts = {n for n in seen.uploaded if n.startswith("artifacts/")}
        unwanted = artifacts - {"artifacts/task-result.json"} - attack.uploads
        faults += [f"{name} was uploaded" for name in sorted(unwanted)]
    return faults


def _faults_of_worker(attack: Attack, seen: Observed, *, with_users: bool) -> list[str]:
    faults = [f"its task is {state}" for state in seen.states if state not in attack.states]
    if seen.behind not in {None, "COMPLETED"}:
        faults.append(f"the task behind it is {seen.behind}")
    if seen.lost:
        faults.append("a lease was lost")
    if seen.left_processes:
        faults.append(f"{seen.left_processes} processes were left")
    faults += [f"{path} was left" for path in seen.left_files]
    if seen.pause_ms > LONGEST_PAUSE_MS:
        faults.append(f"the loop paused for {seen.pause_ms} ms (machine: {seen.machine_ms} ms)")
    return faults


def _trace(attack: Attack, seen: Observed) -> Trace | None:
    """Return where the attack can be seen: each of its tasks has to be."""
    if not attack.shows:
        pattern = re.compile(r"attack .*: (refused|SUCCEEDED)")
    else:
        pattern = re.compile(attack.shows)
    lines = seen.log.splitlines()
    for number, request_id in enumerate(seen.request_ids):
        own = {request_id, *_users_of(lines, request_id)}
        in_log = any(pattern.search(line) and _names(line, own, attack) for line in lines)
        in_error = number < len(seen.errors) and pattern.search(seen.errors[number])
        if not in_log and not in_error:
            return None
    return attack.trace


def _names(line: str, own: set[str], attack: Attack) -> bool:
    """Tell whether a line names the task; what has no valid token has no task to be named."""
    stranger = attack.trace is Trace.PROXY and '"request_id"' not in line
    return stranger or any(name in line for name in own)


def _users_of(lines: list[str], request_id: str) -> set[str]:
    """Return how lines name the user that the task ran as."""
    found = [_CHILD.search(line) for line in lines if request_id in line]
    return {f'"user":{match[1]}' for match in found if match}


def _happened(seen: Observed) -> str:
    reported = [text for text in seen.happened if text != "done"] or [e for e in seen.errors if e]
    states = "/".join(dict.fromkeys(seen.states)).lower().replace("_", " ")
    detail = f": {reported[0]}" if reported else ""
    return f"{states}{detail}"[:110]
