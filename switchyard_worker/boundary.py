"""The files and models that the parent (the worker) and the child (one per attempt) share.

The parent writes `task.json`; the child writes `outcome.json` and prints markers. Whatever the
child writes may be an agent's work: the parent checks it like any other input. Parent and child
import this module, and nothing of each other.
"""

import ctypes
import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import IO, Any, Final, Literal, NamedTuple, cast

from switchyard.domain.prompts.artifacts import RESULT_FILE

TASK_FILE: Final = "task.json"
"""The file that the parent writes for the child: an `Assignment`."""
INPUT_FILE: Final = "input.json"
"""The input of a task that runs a program, in the folder that the program starts in."""
ATTEMPT_FILE: Final = "attempt.json"
"""What code may want to know of its attempt: its number, its commitments, what was missing."""
INPUTS: Final = "inputs"
"""The folder with the files that a task is given."""
OUTCOME_FILE: Final = "outcome.json"
"""The file that the child writes last: its status, its output or error, and what it used."""
SUMMARY_FILE: Final = "logs/summary.log"
TRACE_FILE: Final = "traces/session_trace.json"
TASK_STEP: Final = "task-step"
"""The one step of a definition that names none."""

AGENT_USERS: Final = "AGENT_USERS"
"""The environment variable that names the users of tasks, as in 20000-20031."""
WORKER_MARK: Final = "SWITCHYARD_WORKER"
"""The environment variable of all that runs for a task: which worker started it, and when that
worker began."""

MAX_FILE_MB: Final = 100
MAX_PROCESSES: Final = 256
"""The most processes and threads of one task; the Claude CLI has about thirty."""
TOO_MANY_PROCESSES: Final = MAX_PROCESSES * 9 // 10
"""A task that has more is about to be refused the next, and slows all others down: it is ended."""

UNNAMED_MODEL: Final = "inherit"
"""The model of a definition that leaves the choice to the stage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    name: str
    description: str
    output_file: str
    max_turns: int
    timeout_ms: int
    tools: Sequence[str] = ()
    output_schema: Mapping[str, Any] | None = None
    process_output: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """The code of a code task: a function of a package, or a program."""

    function: str = ""
    """The function, as `package.module:name`."""
    package: str = ""
    path: str = ""
    """The folder of the package, or the file of a module."""
    command: Sequence[str] = ()

    @property
    def name(self) -> str:
        """Return what readers see: the function's name, or the program's."""
        return self.function.rpartition(":")[2] or self.command[0].rpartition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    name: str
    """The file's name below the folder `inputs`."""
    size: int
    key: str = field(default="", repr=False)
    """The object's key in the bucket. The child does not get it, nor the checksum."""
    sha256: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A task, or one step of it for an agent (`for_step`)."""

    request_id: str
    attempt: int
    backend: str
    model: str
    tag: str
    description: str
    max_turns: int
    timeout_ms: int
    tools: Sequence[str] = ()
    output_schema: Mapping[str, Any] | None = None
    input: Any = None
    context: Mapping[str, Any] = field(default_factory=dict)
    """The outputs of the tasks it depends on, by task id."""
    step_name: str = TASK_STEP
    steps: Sequence[Step] = ()
    max_cost_usd: float | None = None
    """The amount that the agent may still spend, in dollars."""
    max_tokens: int | None = None
    """How many tokens it may still use."""
    process_output: str | None = None
    memory_mb: int | None = None
    file_mb: int = MAX_FILE_MB
    max_processes: int | None = None
    """The most processes of a child that runs as a user of its own."""
    traceparent: str | None = None
    """The trace context of the attempt's span."""
    offline_delay_ms: int = 0
    code: Code | None = None
    """The code that runs instead of an agent."""
    inputs: Sequence[InputFile] = ()
    artifacts: Sequence[str] = ()
    """Patterns for the files that the task has to leave behind."""
    commitments: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    """What the parent checks afterwards, as `contracts/commitments.py` reads it. The child does not
    get it."""
    promised: Sequence[str] = ()
    """The same in words, for the agent."""
    missing: Sequence[Mapping[str, Any]] = ()
    """What an earlier attempt of this run lacked: the names, kinds and reasons of commitments."""
    failed_parents: Sequence[Mapping[str, Any]] = ()
    """The parents that did not complete, and why, for a task that runs all the same."""

    @classmethod
    def parse(cls, text: str) -> "Assignment":
        """Parse what `write` has written."""
        fields = json.loads(text)
        steps, code = fields["steps"], fields["code"]
        read = {
            "steps": [Step(**step) for step in steps],
            "code": Code(**code) if code else None,
            "inputs": [InputFile(**file) for file in fields["inputs"]],
        }
        return cls(**fields | read)

    def in_order(self) -> Sequence[Step]:
        return self.steps or [
            Step(
                name=self.step_name,
                description=self.description,
                output_file=RESULT_FILE.rpartition("/")[2],
                max_turns=self.max_turns,
                timeout_ms=self.timeout_ms,
                tools=self.tools,
                output_schema=self.output_schema,
                process_output=self.process_output,
            )
        ]

    def for_step(
        self,
        step: Step,
        *,
        timeout_ms: int,
        max_cost_usd: float | None,
        max_tokens: int | None = None,
    ) -> "Assignment":
        return replace(
            self,
            step_name=step.name,
            description=step.description,
            max_turns=step.max_turns,
            timeout_ms=timeout_ms,
            tools=step.tools,
            output_schema=step.output_schema,
            max_cost_usd=max_cost_usd,
            max_tokens=max_tokens,
            steps=(),
        )

    def write(self, file: IO[str]) -> None:
        """Write JSON in pieces: megabytes at once would hold Python's lock for too long."""
        file.write('{"context": {')
        for number, (name, output) in enumerate(self.context.items()):
            file.write(f"{',' if number else ''}{json.dumps(name)}: {json.dumps(output)}")
        file.write("}")
        for name in self.__slots__:
            if name != "context":
                file.write(f", {json.dumps(name)}: {json.dumps(self._json_value(name))}")
        file.write("}")

    def _json_value(self, name: str) -> Any:
        if name == "code":
            return asdict(self.code) if self.code else None
        if name == "commitments":
            return []
        if name == "inputs":
            return [{"name": file.name, "size": file.size} for file in self.inputs]
        return list(map(asdict, self.steps)) if name == "steps" else getattr(self, name)


PR_SET_CHILD_SUBREAPER: Final = 36  # <linux/prctl.h>
_STARTED: Final = 19  # after the name, in proc(5)

MARKER: Final = "::step "
MAX_STEP_CHARACTERS: Final = 64
MAX_CALL_CHARACTERS: Final = 32
CODE: Final = "code"
"""Stands where others name their agent."""
MAX_LINE_BYTES: Final = 1_000  # as much as a marker of ours can have

Activity = Literal["step_running", "sdk_query", "waiting", "progress"]
_ACTIVITIES: Final = frozenset({"step_running", "sdk_query", "waiting", "progress"})


class Marked(NamedTuple):
    activity: Activity
    step: str
    call: str
    """The same for the same tool with the same input; empty if no tool was called."""


def mark(activity: Activity, *, step: str, call: str = "") -> None:
    fields = {"type": activity, "stepName": step} | ({"call": call} if call else {})
    print(f"{MARKER}{json.dumps(fields)}", flush=True)  # noqa: T201 - standard output is the channel


def mark_call(tool: str, given: Any, *, step: str) -> None:
    """Print a marker for a tool call, with a digest instead of the tool's input."""
    text = json.dumps([tool, given], sort_keys=True, default=str)
    digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    mark("sdk_query", step=step, call=digest)


def marked_in(line: bytes, cleaned: Callable[[str], str] = str) -> Marked | None:
    """Parse a marker; return `None` for another line. An agent may print markers, too.

    `cleaned` is applied to its texts, which may be escaped in the line, before they are cut.
    """
    if not line.startswith(MARKER.encode()) or len(line) > MAX_LINE_BYTES:
        return None
    try:
        fields = json.loads(line.removeprefix(MARKER.encode()))
        activity, step, call = fields["type"], fields["stepName"], fields.get("call", "")
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    if not all(isinstance(text, str) and text.isprintable() for text in (activity, step, call)):
        return None
    if activity not in _ACTIVITIES:
        return None
    return Marked(
        cast("Activity", activity),
        cleaned(step)[:MAX_STEP_CHARACTERS],
        cleaned(call)[:MAX_CALL_CHARACTERS],
    )


SHARE: Final = 0.9
TIME_TO_END_MS: Final = 3_000


def request_limit_ms(timeout_ms: int) -> int:
    """Return the time limit of one request to the API."""
    return int(timeout_ms * SHARE)


def session_limit_ms(timeout_ms: int) -> int:
    """Return the time limit of a whole session."""
    return max(request_limit_ms(timeout_ms), timeout_ms - TIME_TO_END_MS)


def mark_of_worker() -> str:
    """Return what identifies this worker, also among later ones with its process id."""
    return f"{os.getpid()}-{_started()}"


@cache
def _started() -> str:
    try:
        return Path("/proc/self/stat").read_text().rpartition(")")[2].split()[_STARTED]
    except FileNotFoundError:
        return "0"


def become_subreaper() -> None:
    """Make orphans below this process its children instead of init's, so that they can be found.

    Only Linux can; elsewhere an orphan with a session of its own outlives its task.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
