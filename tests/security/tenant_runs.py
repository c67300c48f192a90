"""Sends what one tenant asks in order to harm another to the API's own functions."""

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest

from switchyard.adapters import aws
from switchyard.adapters.dynamodb.access.api_keys import DynamoDbApiKeys
from switchyard.adapters.dynamodb.table import DynamoDbTable
from switchyard.adapters.system import SystemClock, SystemIds
from switchyard.usecases.access.api_keys import KeyRing
from tests.builders import a_submission
from tests.lambdas.api.test_api import Api
from tests.lambdas.conftest import FakeContext, load_handler, small_cloud
from tests.security.attack import Group, Trace
from tests.security.attacks.tenants import ATTACKS, DEFINITION, KEYS, Presented, Request
from tests.security.judging import Judged
from tests.security.planted_secrets import TENANTS

VICTIM, ATTACKER = "acme", "mallory"
CEILINGS = {
    "max_cost_usd": 50.0,
    "max_turns": 50,
    "models": ["claude-haiku-4-5", "claude-sonnet-5-5"],
    "tools": ["Read", "WebSearch"],
}
SUBMISSION_KEY = {"idempotency-key": "acmes-submission"}


@dataclass(frozen=True)
class Stage:
    """Two tenants of one stage, a job of one of them, and all that the functions log."""

    api: Api
    authorize: Callable[[str], bool]
    log: io.StringIO
    job_id: str
    cursor: str
    keys: dict[str, str]

    def logged_since(self, place: int) -> list[Any]:
        self.log.seek(place)
        return [json.loads(line) for line in self.log.read().splitlines() if line.startswith("{")]

    def victims(self) -> list[Any]:
        """Return all that the victim sees of its own."""
        paths = (f"/jobs/{self.job_id}", "/task-definitions", "/task-definitions/scrape", "/jobs")
        return [self.api("GET", path, tenant=VICTIM) for path in paths]


@contextmanager
def stage() -> Iterator[Stage]:
    log = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(log), small_cloud(patch):
        patch.setenv("CEILINGS", json.dumps(CEILINGS))
        api = Api()
        job_id, cursor = _prepare(api)
        ring = KeyRing(
            keys=DynamoDbApiKeys(DynamoDbTable(aws.client("dynamodb"), "api-keys-test")),
            ids=SystemIds(),
            clock=SystemClock(),
        )
        authorizer = load_handler("authorize").handler

        def authorize(key: str) -> bool:
            event = {"headers": {"x-api-key": key}, "requestContext": {"requestId": "r"}}
            return bool(authorizer(event | {"version": "2.0"}, FakeContext())["isAuthorized"])

        yield Stage(api, authorize, log, job_id, cursor, _issued(ring))


def _prepare(api: Api) -> tuple[str, str]:
    secret = DEFINITION | {"description": f"Scrape the store. {TENANTS}"}
    for name in ("scrape", "acmes-own"):
        assert api("PUT", f"/task-definitions/{name}", secret, tenant=VICTIM)[0] == 200
    assert api("PUT", "/task-definitions/mallorys", DEFINITION, tenant=ATTACKER)[0] == 200
    job = a_submission(name=TENANTS).model_dump(mode="json", by_alias=True)
    _, accepted = api("POST", "/jobs", job, tenant=VICTIM, headers=SUBMISSION_KEY)
    api("POST", "/jobs", job, tenant=VICTIM)
    _, page = api("GET", "/jobs", tenant=VICTIM, query="limit=1")
    return accepted["jobId"], quote(page["cursor"], safe="")


def _issued(ring: KeyRing) -> dict[str, str]:
    keys = {"own": ring.issue(ATTACKER), "revoked": ring.issue(VICTIM)}
    ring.revoke(VICTIM, ring.all(VICTIM)[0].key_id)
    return keys | {"key": ring.issue(VICTIM)}


def judged() -> Iterator[Judged]:
    """Try all of them, one after the other."""
    with stage() as prepared:
        found = [_asked(prepared, request) for request in ATTACKS]
        found += [_presented(prepared, presented) for presented in KEYS]
    yield from found


def _asked(stage: Stage, request: Request) -> Judged:
    before, place = stage.victims(), stage.log.tell()

    def filled(text: str) -> str:
        return text.replace("{job}", stage.job_id).replace("{cursor}", stage.cursor)

    body = None if request.body is None else json.loads(filled(json.dumps(request.body)))
    status, text = stage.api.text(
        request.method,
        filled(request.path),
        body,
        tenant=ATTACKER,
        query=filled(request.query),
        headers=request.headers,
    )
    lines = stage.logged_since(place)
    faults = [f"status {status}"] if status >= 500 else []
    if status < 400 and not request.may_succeed:
        faults.append(f"was answered with status {status}: {text[:80]}")
    read = TENANTS in text or (status < 400 and stage.job_id in text)
    wrote = stage.victims() != before
    seen = status < 400 or any(_names_tenant(line) for line in lines)
    faults += ["showed the other tenant's data"] if read else []
    faults += ["changed the other tenant's data"] if wrote else []
    faults += [] if seen else ["not visible: no line of the API's log names the tenant"]
    return Judged(
        name=request.name,
        group=Group.TENANTS,
        happened=f"status {status}: {_detail(text) if status >= 400 else 'only its own'}",
        faults=faults,
        foreign_bytes=[request.name] if read or wrote else [],
        trace=_trace(status, seen=seen),
    )


def _trace(status: int, *, seen: bool) -> Trace | None:
    if status < 400:
        return Trace.ACCESS
    return Trace.API if seen else None


def _names_tenant(line: Any) -> bool:
    return bool(line.get("message") == "request is refused" and line.get("tenant") == ATTACKER)


def _detail(text: str) -> str:
    return str(json.loads(text).get("detail", ""))[:70]


def _presented(stage: Stage, presented: Presented) -> Judged:
    place = stage.log.tell()
    admitted = stage.authorize(eval(presented.change, {}, dict(stage.keys)))
    seen = any(line.get("message") == "key is refused" for line in stage.logged_since(place))
    faults = ["the key was accepted"] if admitted else []
    faults += [] if seen else ["not visible: the authorizer logged nothing"]
    return Judged(
        name=presented.name,
        group=Group.TENANTS,
        happened="accepted" if admitted else "refused",
        faults=faults,
        credentials=["an API key"] if admitted else [],
        trace=Trace.API if seen else None,
    )
