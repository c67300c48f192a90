"""Jobs for the offline agent, scripted through their input."""

from typing import Any

DEFINITION = {"description": "Do it.", "tag": "tester"}


def a_job(*tasks: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "test",
        "definitions": {"do": DEFINITION},
        "tasks": [{"name": "do"} | task for task in tasks],
    }


def scripted(**offline: Any) -> dict[str, Any]:
    return {"input": {"offline": offline}}
