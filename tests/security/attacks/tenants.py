"""Attacks of one tenant on another through the API, and on what a stage lets a tenant do.

Each is a request of the tenant `mallory`; `{job}` and `{cursor}` are those of the tenant `acme`.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from tests.builders import a_definition, a_submission
from tests.security.planted_secrets import TENANTS

JOB_BODY: Final[dict[str, Any]] = a_submission().model_dump(mode="json", by_alias=True)
DEFINITION: Final[dict[str, Any]] = a_definition().model_dump(
    mode="json", by_alias=True, exclude_none=True
)
OWN_TASK: Final = {"taskId": "own", "name": "mallorys", "input": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a tenant asks of the API in order to harm another, or to exceed its bounds."""

    name: str
    tries: str
    method: str = "GET"
    path: str
    query: str = ""
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    may_succeed: bool = False
    """Whether it may be answered, as long as it shows and changes nothing of the other tenant."""


def notifying(**notify: str) -> dict[str, Any]:
    return {"name": "job", "tasks": [OWN_TASK], "notify": notify}


ATTACKS: Final = (
    Request(name="read another tenant's job", tries="reads a job by its id", path="/jobs/{job}"),
    Request(
        name="read another tenant's task",
        tries="reads a task's input and output",
        path="/jobs/{job}/tasks/scrape-store",
    ),
    Request(
        name="read another tenant's events",
        tries="reads the log of a job",
        path="/jobs/{job}/events",
    ),
    Request(
        name="cancel another tenant's job",
        tries="cancels a job by its id",
        method="POST",
        path="/jobs/{job}/cancel",
    ),
    Request(
        name="cancel another tenant's task",
        tries="cancels a task by its id",
        method="POST",
        path="/jobs/{job}/tasks/scrape-store/cancel",
    ),
    Request(
        name="redrive another tenant's job",
        tries="starts a job again",
        method="POST",
        path="/jobs/{job}/redrive",
        body={},
    ),
    Request(
        name="add tasks to another tenant's job",
        tries="adds a task that depends on the other tenant's",
        method="POST",
        path="/jobs/{job}/tasks",
        body={"tasks": [OWN_TASK | {"dependsOn": ["scrape-store"]}]},
    ),
    Request(
        name="list another tenant's jobs by query",
        tries="names the other tenant in the query",
        path="/jobs",
        query="tenant=acme&tenantId=acme&limit=100",
        may_succeed=True,
    ),
    Request(
        name="list another tenant's jobs by header",
        tries="names the other tenant in headers",
        path="/jobs",
        headers={"x-tenant": "acme", "x-tenant-id": "acme", "tenant": "acme"},
        may_succeed=True,
    ),
    Request(
        name="continue another tenant's list",
        tries="presents the cursor of the other tenant's page",
        path="/jobs",
        query="limit=1&cursor={cursor}",
        may_succeed=True,
    ),
    Request(
        name="list another tenant's events",
        tries="asks for all events of a stage",
        path="/events",
        query="tenant=acme",
        may_succeed=True,
    ),
    Request(
        name="read another tenant's definition",
        tries="reads a definition by its name",
        path="/task-definitions/scrape",
    ),
    Request(
        name="read an older version of another tenant's definition",
        tries="reads a version of a definition",
        path="/task-definitions/scrape/versions/1",
    ),
    Request(
        name="delete another tenant's definition",
        tries="deletes a definition by its name",
        method="DELETE",
        path="/task-definitions/scrape",
    ),
    Request(
        name="overwrite another tenant's definition",
        tries="registers a definition of the same name",
        method="PUT",
        path="/task-definitions/scrape",
        body=DEFINITION | {"description": "overwritten"},
        may_succeed=True,
    ),
    Request(
        name="name a tenant in a job",
        tries="submits a job that names the other tenant",
        method="POST",
        path="/jobs",
        body=JOB_BODY | {"tenant": "acme", "tenantId": "acme"},
    ),
    Request(
        name="run another tenant's definition",
        tries="submits a job with a definition that only the other tenant has",
        method="POST",
        path="/jobs",
        body={"name": "job", "tasks": [{"taskId": "a", "name": "acmes-own"}]},
    ),
    Request(
        name="depend on another tenant's task",
        tries="submits a task that depends on one of the other tenant's",
        method="POST",
        path="/jobs",
        body={"name": "job", "tasks": [OWN_TASK | {"dependsOn": ["{job}__scrape-store"]}]},
    ),
    Request(
        name="a job id that leaves its partition",
        tries="asks for an id with the separators of keys",
        path="/jobs/JOB%23{job}%23TENANT%23acme",
    ),
    Request(
        name="a path with dots in the API",
        tries="asks for a path that climbs out of its own jobs",
        path="/jobs/..%2F..%2Facme%2F{job}",
    ),
    Request(
        name="use another tenant's submission key",
        tries="submits a job under the key that the other tenant used",
        method="POST",
        path="/jobs",
        headers={"idempotency-key": "acmes-submission"},
        body={"name": "job", "tasks": [OWN_TASK]},
        may_succeed=True,
    ),
    Request(
        name="a definition with the dearest settings",
        tries="registers a definition beyond the stage's ceilings",
        method="PUT",
        path="/task-definitions/dear",
        body=DEFINITION | {"model": "claude-opus-4-5", "maxTurns": 200, "timeout": 43_200_000},
    ),
    Request(
        name="a definition without a bound on its cost",
        tries="registers a definition that may spend more than the stage allows",
        method="PUT",
        path="/task-definitions/costly",
        body=DEFINITION | {"maxCostUsd": 5_000},
    ),
    Request(
        name="a tool that the stage does not grant",
        tries="registers a definition with a shell",
        method="PUT",
        path="/task-definitions/shell",
        body=DEFINITION | {"tools": ["Bash"]},
    ),
    Request(
        name="another tenant's Slack channel",
        tries="names a channel that nobody allowed for it",
        method="POST",
        path="/jobs",
        body=notifying(channel="#acme-alerts"),
    ),
    Request(
        name="a webhook to the container's credentials",
        tries="names the address of the credentials as a webhook",
        method="POST",
        path="/jobs",
        body=notifying(webhook="https://169.254.170.2/v2/credentials"),
    ),
    Request(
        name="a webhook to a mapped address",
        tries="names an internal IPv4 address in the form of an IPv6 one",
        method="POST",
        path="/jobs",
        body=notifying(webhook="https://[::ffff:169.254.169.254]/latest"),
    ),
    Request(
        name="a webhook to a documentation range",
        tries="names an address in 3fff::/20",
        method="POST",
        path="/jobs",
        body=notifying(webhook="https://[3fff::1]/"),
    ),
    Request(
        name="a webhook to a segment-routing range",
        tries="names an address in 5f00::/16",
        method="POST",
        path="/jobs",
        body=notifying(webhook="https://[5f00::1]/"),
    ),
    Request(
        name="a model with escape sequences",
        tries="registers a definition whose model would steer a terminal",
        method="PUT",
        path="/task-definitions/escapes",
        body=DEFINITION | {"model": "claude\u001b[2J"},
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Presented:
    """A key that a caller presents; `{key}` is a valid key of the tenant `acme`."""

    name: str
    tries: str
    change: str
    """An expression of the valid `key`."""


KEYS: Final = (
    Presented(
        name="a key that names another tenant",
        tries="writes another tenant's name into its own key",
        change="own.replace('mallory', 'acme')",
    ),
    Presented(
        name="a key with another secret",
        tries="presents the public part of a key with an invented secret",
        change="key.rpartition('.')[0] + '.' + 'x' * len(key.rpartition('.')[2])",
    ),
    Presented(
        name="a key that is cut short", tries="presents all but one character", change="key[:-1]"
    ),
    Presented(
        name="a key in other letters", tries="changes the case of a key", change="key.swapcase()"
    ),
    Presented(name="a key that was revoked", tries="presents a revoked key", change="revoked"),
    Presented(
        name="a key of 5,000 characters", tries="floods the check", change="key + 'k' * 5000"
    ),
)
CANARY: Final = TENANTS
