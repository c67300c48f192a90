"""The gateway lets through what the API describes, and nothing else."""

import json
from pathlib import Path

from stacks.producer_api import ROUTES

DESCRIBED = Path(__file__).parents[2] / "docs" / "openapi.json"


def test_the_routes_of_the_gateway_are_those_that_are_described() -> None:
    paths = json.loads(DESCRIBED.read_text(encoding="utf-8"))["paths"]
    described = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert {(method.value, path) for method, path in ROUTES} == described
