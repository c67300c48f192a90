"""Names of things. Every id is checked by `fullmatch` before it touches a key, a path or a log.

A pattern that people can break has its rule beside it, as messages and help texts quote it.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Final

TASK_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
TASK_ID_RULE: Final = "1 to 128 of a-z A-Z 0-9 - _"
ITEM_KEY: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ITEM_KEY_RULE: Final = "1 to 64 of a-z A-Z 0-9 - _"
MAX_KEYS: Final = 8
"""The most keys of an item: two lists and a job at each of two levels, and two lists within."""
_KEYS: Final = rf"(?:\[~?{ITEM_KEY.pattern}\]){{0,{MAX_KEYS}}}"
ANY_TASK_ID: Final = re.compile(rf"{TASK_ID.pattern}{_KEYS}")
"""The id of any task: one that another made has its key behind the id of that, `a[0]`. Numbers of
relays have a `~` in front, which no key has."""
LONGEST_FAN_OUT: Final = 100
"""Characters of the id of a task that makes others: hidden tasks have it in theirs."""
LONGEST_ITEM: Final = 128
"""Characters of the id of a task that another made, with its keys."""
JOB_ID: Final = re.compile(r"job-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
REQUEST_ID: Final = re.compile(rf"[a-zA-Z0-9_-]{{1,256}}{_KEYS}")
TENANT_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
TENANT_ID_RULE: Final = "1 to 63 of a-z, 0-9 and -, without - in front"
SMOKE_TENANT: Final = "switchyard-smoke"
"""The tenant whose tasks check a deployment: only an operator can issue its keys."""
DEFINITION_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
DEFINITION_NAME_RULE: Final = "1 to 64 of a-z A-Z 0-9 - _"
GROUP_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
GROUP_NAME_RULE: Final = "1 to 40 of a-z, 0-9 and -, without - in front"
POOL_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,23}")
POOL_NAME_RULE: Final = "1 to 24 of a-z, 0-9 and -, without - in front"
STEP_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
STEP_NAME_RULE: Final = "1 to 64 of a-z A-Z 0-9 - _"
TRIGGER_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
TRIGGER_NAME_RULE: Final = "1 to 40 of a-z, 0-9 and -, without - in front"
QUEUE_GROUP: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
QUEUE_GROUP_RULE: Final = "1 to 32 of a-z, 0-9 and -, without - in front"
QUEUE_NAME: Final = re.compile(rf"{QUEUE_GROUP.pattern}(?:/[a-z0-9][a-z0-9-]{{0,39}})?")
DEFAULT_QUEUE: Final = "default"
"""The queue, and its group, of tasks that name none. Every tenant has it."""
EVENT_ID: Final = re.compile(r"[A-Za-z0-9._:/+-]{1,128}")
EVENT_ID_RULE: Final = "1 to 128 of a-z A-Z 0-9 . _ : / + -"
FILE_NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}")
FILE_NAME_RULE: Final = "1 to 100 of a-z A-Z 0-9 . _ -, without - . _ in front"
SHA256: Final = re.compile(r"[0-9a-f]{64}")

HIDDEN_PREFIX: Final = "__"
START: Final = "__start__"
END: Final = "__end__"
RELAY_PREFIX: Final = "__relay-"
"""Stands for up to 100 others, so that no item names more."""
ADDED_PREFIX: Final = "__added-"
"""The relay between the tasks that were added together and `__end__`."""
FAN_PREFIX: Final = "__fan-"
"""The relays between a task and those that it makes; the one that all wait for has no number."""

BARE_PREFIX: Final = "~"  # no job id can begin with it
BARE_TASK: Final = "task"

DUE_SHARDS: Final = 16


@dataclass(frozen=True, slots=True, order=True)
class JobRef:
    tenant: str
    job_id: str

    def task(self, task_id: str) -> "TaskRef":
        return TaskRef(self.tenant, self.job_id, task_id)


@dataclass(frozen=True, slots=True, order=True)
class TaskRef:
    tenant: str
    job_id: str
    task_id: str

    @property
    def job(self) -> JobRef:
        return JobRef(self.tenant, self.job_id)

    @property
    def request_id(self) -> str:
        """A bare task keeps the id that its producer gave it."""
        if self.bare:
            return self.job_id.removeprefix(BARE_PREFIX)
        return f"{self.job_id}__{self.task_id}"

    @property
    def bare(self) -> bool:
        """Whether it belongs to no job: it came in a message of another producer."""
        return self.job_id.startswith(BARE_PREFIX)

    @property
    def hidden(self) -> bool:
        return self.task_id.startswith(HIDDEN_PREFIX)

    @property
    def relay(self) -> bool:
        """Whether it only passes on that others have settled; no worker runs it."""
        return self.task_id.startswith((RELAY_PREFIX, ADDED_PREFIX, FAN_PREFIX))

    @property
    def fan_out(self) -> str | None:
        """The declared task that it comes from; `None` for a declared one itself, and for relays.

        Others may be between the two: a job may make a fan-out.
        """
        return next(iter(self.makers), None)

    @property
    def makers(self) -> tuple[str, ...]:
        """The ids of those that may have made it, the declared one first.

        Not all of them need exist: of a list of lists, `a[0][1]` was made by `a`.
        """
        return () if self.hidden else makers_of(self.task_id)


def makers_of(task_id: str) -> tuple[str, ...]:
    """Return the ids of those that a task, or a relay between such tasks, may come from."""
    name = task_id.removeprefix(FAN_PREFIX)
    ends = [at for at, character in enumerate(name) if character == "["]
    relayed = (name,) if name != task_id else ()
    return (*(name[:end] for end in ends), *relayed)


def is_made_by(task_id: str, maker: str) -> bool:
    """Return whether a task, or a relay, was made by another one."""
    return maker in makers_of(task_id)


def in_scope(scope: str | None, name: str) -> str:
    """Return the id of a task that is called by its name in the template of the job `scope`."""
    return f"{scope}[{name}]" if scope else name


def local_name(task_id: str) -> str:
    """Return what a task is called by those that follow it: in a template, its id there."""
    return task_id[:-1].rpartition("[")[2] if task_id.endswith("]") else task_id


def split_request_id(request_id: str) -> tuple[str, str]:
    """The first `__` splits: a job id cannot contain one."""
    job_id, separator, task_id = request_id.partition("__")
    if not (separator and JOB_ID.fullmatch(job_id) and ANY_TASK_ID.fullmatch(task_id)):
        raise ValueError(f"{request_id!r} is not of the form job-…__taskId")
    return job_id, task_id


def bare_task(tenant: str, request_id: str) -> TaskRef:
    """The task of another producer's message, in a namespace that no job id can reach."""
    problem = problem_with_bare_id(request_id)
    if problem:
        raise ValueError(problem)
    return TaskRef(tenant, f"{BARE_PREFIX}{request_id}", BARE_TASK)


def problem_with_bare_id(request_id: str) -> str | None:
    if not REQUEST_ID.fullmatch(request_id) or "[" in request_id:
        return f"{request_id!r} is not a request id"
    if "__" in request_id:
        return f"{request_id!r} is not bare: `__` separates a job from its task"
    if request_id.startswith("job-"):
        return f"{request_id!r} is not bare: ids of jobs begin with `job-`"
    return None


def task_named(tenant: str, request_id: str) -> TaskRef:
    """The task whose `request_id` this is, of a job or bare."""
    if "__" in request_id:
        return TaskRef(tenant, *split_request_id(request_id))
    return bare_task(tenant, request_id)


def due_shard(request_id: str) -> int:
    digest = hashlib.blake2b(request_id.encode(), digest_size=2).digest()
    return int.from_bytes(digest, "big") % DUE_SHARDS


LONGEST_FOLDER_NAME: Final = 255


def folder_name(request_id: str) -> str:
    """Return the name of a task's folder on a worker: a bare id may be too long to be one.

    Brackets, which a shell would take for a pattern, become dots: no id has one.
    """
    request_id = request_id.replace("[", ".").replace("]", "")
    if len(request_id) <= LONGEST_FOLDER_NAME:
        return request_id
    digest = hashlib.blake2b(request_id.encode(), digest_size=16).hexdigest()
    return f"{request_id[: LONGEST_FOLDER_NAME - len(digest) - 1]}-{digest}"
