"""Every metric names its stage: several stages may share an account."""

import ast
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from switchyard.observability import MetricUnit, get_logger
from tests.lambdas.conftest import FakeContext, load_handler

LAMBDAS = Path(__file__).parents[2] / "lambdas"
VERBS = sorted(
    path.parent.name for path in LAMBDAS.glob("*/handler.py") if "add_metric(" in path.read_text()
)


@pytest.fixture(params=VERBS)
def module(
    request: pytest.FixtureRequest, cloud: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> ModuleType:
    assert cloud["STAGE"] == "test"
    monkeypatch.setenv("DEAD_LETTER_QUEUE_URLS", "")
    return load_handler(request.param)


def published(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [line for line in lines if "_aws" in line]


def dimensions_of(metric: dict[str, Any]) -> dict[str, str]:
    (directive,) = metric["_aws"]["CloudWatchMetrics"]
    (names,) = directive["Dimensions"]
    return {name: metric[name] for name in names}


def test_what_a_function_counts_names_its_stage_in_every_invocation(
    module: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        module.metrics.add_metric("Anything", MetricUnit.Count, 1)
        module.metrics.flush_metrics()

    counted = published(capsys)
    assert [dimensions_of(one) for one in counted] == [{"service": "test", "stage": "test"}] * 2


def test_a_cold_start_names_its_stage(
    module: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    module.metrics.add_cold_start_metric(FakeContext())

    (started,) = published(capsys)
    assert dimensions_of(started) == {
        "function_name": FakeContext.function_name,
        "service": "test",
        "stage": "test",
    }


def test_no_function_has_metrics_of_another_kind() -> None:
    for path in LAMBDAS.glob("*/handler.py"):
        imported = [
            f"{node.module}.{name.name}"
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        ]
        assert not [name for name in imported if "powertools" in name and "etrics" in name], path


def test_a_line_of_a_log_names_its_stage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What workers log is counted by metric filters, which know nothing else of the stage."""
    monkeypatch.setenv("STAGE", "test")
    get_logger("a-service-of-its-own").error("message parked")

    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["stage"] == "test"
