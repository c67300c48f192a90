"""The page on the API names its routes and how it refuses, as the description does."""

import json
import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "api.md").read_text(encoding="utf-8")
PATHS = json.loads((DOCS / "openapi.json").read_text(encoding="utf-8"))["paths"]
OPERATIONS = [operation for methods in PATHS.values() for operation in methods.values()]


def test_every_route_is_in_the_table_and_no_other() -> None:
    emitted = set(re.findall(r"^\| `([A-Z]+) (/\S+)` \|", PAGE, re.MULTILINE))
    assert emitted == {(method.upper(), path) for path, found in PATHS.items() for method in found}


def test_every_status_of_a_refusal_is_documented() -> None:
    table = PAGE.partition("## Errors")[2].partition("## Idempotency")[0]
    emitted = {
        status
        for statuses in re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE)
        for status in statuses.split(", ")
    }
    assert emitted == {s for found in OPERATIONS for s in found["responses"] if s >= "400"}
