"""What every keeper of inputs and outputs promises."""

import json
from typing import Any

import pytest

from switchyard.domain.plan import plan_job
from switchyard.domain.task import Payload
from tests.builders import JOB, NOW_MS, specs
from tests.contract.conftest import Backend


@pytest.mark.parametrize(
    "value",
    [None, 0, 1.0, "", "ü", [], {"a": {"b": [1, 2.5, None]}}, {"n": 1e300}, {"text": "x" * 50_000}],
)
def test_an_input_comes_back_as_it_was(backend: Backend, value: Any) -> None:
    backend.intake.write(
        plan_job(
            JOB,
            name="n",
            tags={},
            specs=specs({"a": [], "b": ["a"]}, b=value),
            versions={"scrape": 1},
            now_ms=NOW_MS,
        )
    )
    kept = backend.payloads.read(JOB.task("b"))
    assert (kept.depends_on, json.dumps(kept.input)) == (("a",), json.dumps(value))


def test_a_task_without_data_has_an_empty_payload(backend: Backend) -> None:
    assert backend.payloads.read(JOB.task("nobody")) == Payload()
    assert backend.payloads.outputs(JOB, ["nobody"]) == {}
