"""Sends requests that the API's description allows, and others; checks every answer against it.

`python -m tests.e2e.api.fuzzing 5000` sends that many to a local cloud of its own.
"""

import itertools
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import hypothesis
import requests
import schemathesis
from hypothesis import HealthCheck, Phase
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import CHECKS
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import FailureGroup

from benchmarks.output import say
from switchyard.domain.ids import DEFINITION_NAME
from switchyard.domain.text import clean_values
from tests.e2e.conftest import RunningCloud, running
from tests.e2e.documents import DEFINITION, a_job

DESCRIPTION: Final = Path(__file__).parents[3] / "docs" / "openapi.json"
CASES_AT_ONCE: Final = 5
RIGHTLY: Final = schemathesis.GenerationMode.POSITIVE
WRONGLY: Final = schemathesis.GenerationMode.NEGATIVE
PLAIN_TASK: Final = frozenset({"taskId", "name", "dependsOn", "input", "rule"})
LEFT_OUT: Final = {
    "positive_data_acceptance": "a body may have the right shape and name an unknown definition",
    "unsupported_method": "the gateway knows only routes: another method is 404, not 405",
    "allow_header_conformance": "the same",
    "ignored_auth": "test_api.py asks every route without a key",
    "use_after_free": "a deleted definition's versions stay",
    "ensure_resource_availability": "a definition may be deleted by the next request",
}


@dataclass
class Fuzzer:
    """Half of the ids are of things that exist, else all answers were 404."""

    url: str
    key: str
    known: Mapping[str, str]
    """Path parameters."""
    seed: int = 0
    answers: Counter[int] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        document = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
        del document["security"]  # else most requests would be made without a key, and look alike
        schema = schemathesis.openapi.from_dict(document, config=SchemathesisConfig())
        schema.config.update(base_url=self.url)
        self._operations: list[Any] = [found.ok() for found in schema.get_all_operations()]  # type: ignore[union-attr]
        self._checks = [check for check in CHECKS.get_all() if check.__name__ not in LEFT_OUT]
        self._session = requests.Session()
        self._session.headers["x-api-key"] = self.key

    def send(self, cases: int) -> None:
        possible = list(self._strategies())
        random.Random(self.seed).shuffle(possible)  # so that few cases are of all kinds
        for number in itertools.count(self.seed):
            self._register()
            for strategy in tuple(possible):
                if self.answers.total() >= cases:
                    return
                if not self._some(strategy, number):
                    possible.remove(strategy)

    def reach(self, cases: int) -> None:
        """Send well-formed requests for known things only; a PUT makes one of its own."""
        strategies = [
            operation.as_strategy(RIGHTLY, path_parameters=ids)
            .map(_without_query)
            .map(self._with_plain_tasks)
            for operation in self._operations
            if (ids := self._ids_in(operation)) and operation.method != "put"
        ]
        for number, strategy in itertools.product(range(cases), strategies):
            if self.answers.total() >= cases:
                return
            self._some(strategy, self.seed + number)

    def _strategies(self) -> Iterator[Any]:
        for operation, mode in itertools.product(self._operations, (RIGHTLY, WRONGLY)):
            if mode is WRONGLY and not _can_be_asked_wrongly(operation):
                continue
            yield operation.as_strategy(mode)
            if operation.path_parameters or operation.body:
                ids = self._ids_in(operation) or None
                known = operation.as_strategy(mode, path_parameters=ids)
                yield known.map(self._naming_what_exists)
                if mode is RIGHTLY and operation.body:
                    yield known.map(self._with_plain_tasks)

    def _ids_in(self, operation: Any) -> dict[str, str]:
        named = {parameter.name for parameter in operation.path_parameters}
        return {name: value for name, value in self.known.items() if name in named}

    def _register(self) -> None:
        """Anew: a round may have deleted it."""
        definition = f"{self.url}/task-definitions/{self.known['name']}"
        self._session.put(definition, json=DEFINITION).raise_for_status()

    def _naming_what_exists(self, case: Any) -> Any:
        """Name a definition that exists, unless a name is what is wrong with the request."""
        match case.body:
            case {"tasks": [*tasks]}:
                for task in tasks:
                    match task:
                        case {"name": str() as name} if DEFINITION_NAME.fullmatch(name):
                            task["name"] = self.known["name"]
        return case

    def _with_plain_tasks(self, case: Any) -> Any:
        """Leave out what only held tasks and conditions have, which is seldom right by chance."""
        match case.body:
            case {"tasks": [*tasks]}:
                case.body.pop("files", None)
                for task in (task for task in tasks if isinstance(task, dict)):
                    for name in task.keys() - PLAIN_TASK:
                        del task[name]
                    task["name"] = self.known["name"]
        return case

    def _some(self, strategy: Any, seed: int) -> bool:
        """False if there are none."""

        @hypothesis.seed(seed)
        @hypothesis.settings(
            max_examples=CASES_AT_ONCE,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @hypothesis.given(case=strategy)
        def one(case: Any) -> None:
            self._judge(case)

        try:
            one()
        except Unsatisfiable:
            return False
        return True

    def _judge(self, case: Any) -> None:
        response = case.call(session=self._session)
        self.answers[response.status_code] += 1
        try:
            case.validate_response(response, checks=self._checks_of(case))
        except FailureGroup as problem:
            self.problems.append(str(problem))

    def _checks_of(self, case: Any) -> list[Any]:
        """A text may be too long only until its control characters are taken out of it."""
        if clean_values(case.body) == case.body:
            return self._checks
        return [check for check in self._checks if check.__name__ != "negative_data_rejection"]


def _can_be_asked_wrongly(operation: Any) -> bool:
    """What may be any text cannot; to find that out by trying takes a second each."""
    in_path = [parameter.definition["schema"] for parameter in operation.path_parameters]
    return bool(operation.body or operation.query) or any(s != {"type": "string"} for s in in_path)


def _without_query(case: Any) -> Any:
    """Which may be refused before anybody looks for what is asked about."""
    case.query = {}
    return case


def fuzzer_of(cloud: RunningCloud, *, key: str | None = None) -> Fuzzer:
    """Return a fuzzer that, with the key of another tenant, knows what it may not see."""
    job_id = cloud.submit(a_job({"taskId": "a"}))
    cloud.settled(job_id)
    known = {"jobId": job_id, "taskId": "a", "name": "do", "version": "1"}
    return Fuzzer(cloud.endpoint.api_url, key or cloud.endpoint.api_key, known)


def main(cases: int) -> int:
    with tempfile.TemporaryDirectory() as name, running(Path(name), thinks_ms=0) as cloud:
        fuzzer = fuzzer_of(cloud)
        fuzzer.send(cases)
    for problem in fuzzer.problems:
        say(f"{problem}\n")
    answers = {str(status): count for status, count in sorted(fuzzer.answers.items())}
    say(json.dumps({"cases": cases, "problems": len(fuzzer.problems), "answers": answers}))
    return 1 if fuzzer.problems else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
