"""Where tests run a Claude SDK: nothing of this machine's environment, a home of its own."""

import os
from pathlib import Path
from typing import Any

import pytest

from switchyard_worker.boundary import Assignment

API_KEY = "sk-ant-test-0123456789abcdef"
SCHEMA = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}


def move_in(monkeypatch: pytest.MonkeyPatch, home: Path, *, api: str, key: str = API_KEY) -> None:
    path = os.environ["PATH"]
    for name in os.environ:
        monkeypatch.delenv(name)
    for name, value in {
        "PATH": path,
        "HOME": str(home),
        "ANTHROPIC_API_KEY": key,
        "ANTHROPIC_BASE_URL": api,
        "CLAUDE_CONFIG_DIR": str(home / "claude"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(home)


def an_assignment(backend: str, **facts: Any) -> Assignment:
    known: dict[str, Any] = {
        "request_id": "r",
        "attempt": 1,
        "model": "claude-haiku-4-5",
        "tag": "painter",
        "description": "Choose.",
        "max_turns": 4,
        "timeout_ms": 30_000,
        "output_schema": SCHEMA,
    }
    return Assignment(backend=backend, **known | facts)
