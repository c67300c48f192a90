"""Rolls a local cloud back one version and forward again while jobs run: `make rollback-check`."""

import json
import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import boto3
import httpx
from boto3.dynamodb.conditions import Key

from switchyard.adapters.system import SystemClock
from switchyard_local.cloud import LocalCloud
from switchyard_local.endpoint import Endpoint
from tests.compatibility.rollback_keys import CheckedKeys
from tests.compatibility.sources import NoHistory, extracted, last_released, python_in, todays
from tests.compatibility.templates import (
    OWN_SOURCES,
    Broken,
    Templates,
    Version,
    require_same_names,
    rolled_back_first,
    templates_of,
    undocumented,
)

PATIENCE_SECONDS: Final = 240
DELAY_MS: Final = 12_000
"""How long a task takes: a job outlasts the deployment of the other version."""
_UP: Final = f"""{OWN_SOURCES}
folder, port, delay = sys.argv[1:]
environment = {{"OFFLINE_DELAY_MS": delay}}
cloud = LocalCloud(Path(folder), port=int(port), extra_environment=environment)
cloud._ministack  # its functions have layers: only the worker needs to be shown its sources
cloud._extra_environment = environment | {{"PYTHONPATH": layer}}
cloud.up(lambda line: print(f"    {{line}}", flush=True))
"""
_NEW_NAMES: Final = 'name="local",\n    names_as_of="0.2"'
_OLD_NAMES: Final = _NEW_NAMES.replace("0.2", "0.1")
_DEFINITION: Final = {"description": "Answer.", "tag": "answerer", "backend": "offline"}
_CHAIN: Final = [
    {"taskId": f"c{n}", "name": "answer", "dependsOn": [f"c{n - 1}"] if n else []} for n in range(7)
]
_WIDE: Final = [{"taskId": f"w{n}", "name": "answer"} for n in range(6)]


@dataclass
class Stage:
    folder: Path
    port: int

    def deploy(self, version: Version) -> None:
        _say(f"  deploying {version.name}")
        arguments = [str(self.folder), str(self.port), str(DELAY_MS)]
        python_in(version.tree, ["-c", _UP, *arguments])
        found = self._get("/health")["version"]
        if found != version.name:
            raise Broken(f"{version.name} was deployed, and the API says {found}")

    @property
    def endpoint(self) -> Endpoint:
        return LocalCloud(self.folder, port=self.port).endpoint()

    def submit(self) -> list[str]:
        """Jobs of which some tasks run, some are queued and some wait."""
        with self._http() as http:
            http.put("/task-definitions/answer", json=_DEFINITION).raise_for_status()
            jobs = [
                http.post("/jobs", json={"name": "rolled", "tasks": tasks}).raise_for_status()
                for tasks in (_CHAIN, _WIDE, _CHAIN)
            ]
        return [job.json()["jobId"] for job in jobs]

    def wait_until_under_way(self, jobs: list[str]) -> None:
        self._until(lambda: any(self._progress(job, "processing") for job in jobs), "no task runs")

    def unsettled(self, jobs: list[str]) -> int:
        return sum(self._get(f"/jobs/{job}")["status"] == "processing" for job in jobs)

    def require_completed(self, jobs: list[str], *, by: Version) -> None:
        def ended() -> bool:
            return not self.unsettled(jobs)

        self._until(ended, f"under {by.name}, jobs do not end")
        for job in jobs:
            view = self._get(f"/jobs/{job}")
            if view["status"] != "completed":
                raise Broken(f"{job} ended as {view['status']} under {by.name}: {view}")
            for task in view["tasks"]:
                self._require_completed_once(f"{job}__{task['taskId']}")

    def require_workers(self, version: Version) -> None:
        """Wait until all workers that are present report the version that was deployed last."""
        table = self._table("StateTableName")

        def emitted() -> bool:
            rows = table.query(KeyConditionExpression=Key("PK").eq("WORKERS"))["Items"]
            return {row["version"] for row in rows if "version" in row} == {version.name}

        self._until(emitted, f"no worker of {version.name} says that it is there")

    def _require_completed_once(self, request_id: str) -> None:
        table, entity = self._table("EventsTableName"), Key("GSI1PK").eq(f"TASK#{request_id}")

        def completions() -> int:
            found = table.query(IndexName="GSI1-index", KeyConditionExpression=entity)["Items"]
            return sum(event["eventType"] == "Task Completed" for event in found)

        self._until(lambda: completions() > 0, f"{request_id} has no Task Completed")
        if completions() != 1:
            raise Broken(f"{request_id} completed {completions()} times")

    def _progress(self, job: str, status: str) -> int:
        return int(self._get(f"/jobs/{job}")["progress"].get(status, 0))

    def _until(self, done: Any, problem: str) -> None:
        clock = SystemClock()
        deadline = clock.monotonic() + PATIENCE_SECONDS
        while not done():
            if clock.monotonic() > deadline:
                raise Broken(f"{problem} within {PATIENCE_SECONDS} s")
            clock.sleep(0.3)

    def _get(self, path: str) -> Any:
        with self._http() as http:
            return http.get(path).raise_for_status().json()

    def _http(self) -> httpx.Client:
        endpoint = self.endpoint
        headers = {"x-api-key": endpoint.api_key}
        return httpx.Client(base_url=endpoint.api_url, headers=headers, timeout=60, trust_env=False)

    def _table(self, output: str) -> Any:
        outputs = json.loads((self.folder / "outputs.json").read_text())
        endpoint = self.endpoint
        dynamodb = boto3.resource(
            "dynamodb",
            endpoint_url=endpoint.aws_endpoint_url,
            region_name=endpoint.region,
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        return dynamodb.Table(outputs["switchyard-local-infrastructure"][output])


def keep_names(tree: Path) -> None:
    """Set what the upgrade note tells operators to set for a stage that 0.1 deployed."""
    table = tree / "stacks" / "stage.py"
    rows = table.read_text()
    stored = rows.replace(_NEW_NAMES, _OLD_NAMES)
    if stored == rows:
        raise Broken(f"the row of the stage local in {table.name} does not have {_NEW_NAMES!r}")
    table.write_text(stored)


def check(old_revision: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tree = extracted(old_revision, folder / "old-sources")
        today = todays(folder / "new-sources")
        keep_names(today)
        new, old = Version(_version(today), today), Version(_version(tree), tree)
        _say(
            f"Rolling back from {new.name} to {old.name} ({old_revision[:12]}), and forward again:"
        )
        page = (today / "docs" / "deploy.md").read_text(encoding="utf-8")
        first = _compare(templates_of(new, folder / "new"), templates_of(old, folder / "old"))
        missing = undocumented(first, page=page, version=old.name)
        if missing:
            raise Broken(f"docs/deploy.md does not say to deploy {', '.join(missing)} first")
        stage = Stage(folder / "cloud", _free_port())
        try:
            _there_and_back(stage, new, old)
        finally:
            LocalCloud(stage.folder, port=stage.port).down(lambda line: _say(f"    {line}"))


def _compare(new: Templates, old: Templates) -> list[str]:
    same = require_same_names(new, old)
    _say(f"  {same} tables, queues, buckets and buses have the same names in both")
    first = rolled_back_first(new, old)
    if first:
        _say(f"  on AWS, deploy the older version of {', '.join(first)} first (docs/deploy.md)")
    return first


def _there_and_back(stage: Stage, new: Version, old: Version) -> None:
    stage.deploy(new)
    keys = CheckedKeys(lambda: stage.endpoint)
    for before, after in ((new, old), (old, new)):
        jobs = stage.submit()
        stage.wait_until_under_way(jobs)
        if after is old:
            keys.copy_back()
        stage.deploy(after)
        if after is new:
            keys.move()
        keys.require_as_before(by=after)
        left = stage.unsettled(jobs)
        if not left:
            raise Broken(f"all jobs ended before {after.name} was deployed: nothing was shown")
        stage.require_completed(jobs, by=after)
        stage.require_workers(after)
        _say(
            f"  {len(jobs)} jobs begun under {before.name} completed, {left} of them under"
            f" {after.name}; no task completed twice"
        )


def _version(tree: Path) -> str:
    source = (tree / "layers/shared/python/switchyard/__init__.py").read_text()
    return source.partition('VERSION: Final = "')[2].partition('"')[0]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main(arguments: list[str]) -> int:
    try:
        check(arguments[0] if arguments else last_released())
    except (Broken, NoHistory) as error:
        _say(str(error))
        return 1
    _say("Going back one version and forward again loses nothing.")
    return 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
