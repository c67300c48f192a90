"""docs/configuration.md says what the code does: variable by variable, default by default."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic.fields import FieldInfo

from switchyard import settings
from switchyard.domain.access.limits import WIDEST_CEILINGS
from switchyard.settings import (
    AlertingSettings,
    EmitterSettings,
    EscalatorSettings,
    PoolsSettings,
    Settings,
    SubmitterSettings,
)
from switchyard_worker.parent.supervision.child_environment import ChildAccess, child_environment

DOCUMENT = Path(__file__).parents[2] / "docs" / "configuration.md"
SHARED_ONLY = {
    Settings,
    EmitterSettings,
    EscalatorSettings,
    AlertingSettings,
    PoolsSettings,
    SubmitterSettings,
}
"""Bases that nothing reads by themselves."""

ORIGINALS = {
    **dict.fromkeys(("PATH", "HOME", "USER", "SHELL", "TMPDIR", "PWD"), "—"),
    **dict.fromkeys(("LANG", "LC_ALL", "LC_CTYPE", "TERM", "COLORTERM", "FORCE_COLOR"), "—"),
    **dict.fromkeys(("CLAUDE_CODE_PATH", "CLAUDE_CONFIG_DIR", "CLAUDE_SKIP_PERMISSIONS"), "—"),
    **dict.fromkeys(("TASK_DEFINITIONS_TABLE", "INPUT_FILE"), "—"),
    **dict.fromkeys(("SLACK_BOT_TOKEN", "ALERT_CHANNEL"), "—"),
    **dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "SQS_QUEUE_URL"), "—"),
    **dict.fromkeys(("CLAUDE_CODE_OAUTH_TOKEN", "TENANT_ID", "S3_BUCKET"), "—"),
    "AWS_REGION": "`eu-west-1`",
    "MAX_MESSAGES": "`1`",
    "VISIBILITY_TIMEOUT": "`30`",
    "WAIT_TIME_SECONDS": "`20`",
    "VISIBILITY_EXTENSION_INTERVAL": "`20000`",
    "VISIBILITY_EXTENSION_AMOUNT": "`30`",
    "CLAUDE_MODEL": "`claude-opus-4-5`",
    "CLAUDE_TIMEOUT": "`200000`",
    "MAX_CONCURRENT_CLAUDE": "`3`",
    "DEFAULT_TIMEOUT": "`120000`",
    "DYNAMODB_EVENTS_TABLE_NAME": "`dev-unifiedEvents`",
    "APP_NAME": "`task-workflow`",
    "EVENTBRIDGE_BUS_NAME": "`default`",
    "MAX_MESSAGE_RETRIES": "`3`",
    "PROCESSING_TIMEOUT_MS": "`20000`",
    "DELETE_FILES_AFTER_UPLOAD": "`false`",
    "NODE_ENV": "`dev`",
    "SQS_HEARTBEAT_INTERVAL_MS": "—",
}
"""The original consumer's variables and their defaults."""

PROCESS_MANAGER = {
    "Instances",
    "Memory limit",
    "Auto-restart",
    "Restart delay",
    "Kill timeout",
    "Cron restart",
    "Log files",
}


def rows(heading: str) -> dict[str, list[str]]:
    """A section's table, by the first cell of its rows; no variable has two."""
    _, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    lines = [line for line in rest.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]
    table = {first.strip("`"): others for first, *others in cells}
    assert len(table) == len(cells)
    return table


def deployables() -> Iterator[tuple[str, type[Settings]]]:
    for thing in vars(settings).values():
        if isinstance(thing, type) and issubclass(thing, Settings) and thing not in SHARED_ONLY:
            words = re.findall("[A-Z][a-z]+", thing.__name__.removesuffix("Settings"))
            yield "-".join(words).lower(), thing


def default_of(field: FieldInfo) -> str:
    if field.is_required():
        return "—"
    default: Any = field.default
    if default == WIDEST_CEILINGS:
        return "the widest"
    if default in (None, ""):
        return "none"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def in_the_code() -> dict[str, list[str]]:
    """Each variable's default and readers, as the document has them."""
    found: dict[str, tuple[str, list[str]]] = {}
    for reader, deployable in sorted(deployables()):
        for name, field in deployable.model_fields.items():
            default, readers = found.setdefault(name.upper(), (default_of(field), []))
            assert default == default_of(field), f"{name} has two defaults"
            readers.append(reader)
    return {name: [default, ", ".join(readers)] for name, (default, readers) in found.items()}


def test_every_setting_has_its_row_with_its_default_and_its_readers() -> None:
    assert {name: cells[:2] for name, cells in rows("Settings").items()} == in_the_code()
    assert all(meaning for _, _, meaning in rows("Settings").values())


def test_every_original_variable_has_its_row_with_its_original_default() -> None:
    table = rows("The original consumer's variables")
    assert {name: cells[0] for name, cells in table.items()} == ORIGINALS
    assert {cells[1] for cells in table.values()} == {
        "kept",
        "changed",
        "replaced",
        "gone",
        "platform",
    }


@pytest.mark.parametrize("name", ORIGINALS)
def test_what_the_document_says_became_of_a_variable_is_true(name: str) -> None:
    was, now, child, why = rows("The original consumer's variables")[name]
    setting = in_the_code().get(name)
    match now:
        case "kept":
            assert setting is None or setting[0] == was
            assert setting or child == "yes" or name == "SQS_HEARTBEAT_INTERVAL_MS"
        case "changed":
            assert setting
            assert setting[0] != was
        case _:
            assert setting is None
    assert why or now == "kept"


def test_the_child_sees_exactly_what_the_document_says() -> None:
    host = dict.fromkeys([*ORIGINALS, "LC_SOMETHING", "LD_PRELOAD"], "x")
    access = ChildAccess(name="CLAUDE_CODE_OAUTH_TOKEN", token="x", endpoint="x")
    seen = child_environment(host, Path("/work/task"), access=access).keys()
    emitted = {
        n for n, cells in rows("The original consumer's variables").items() if cells[2] == "yes"
    }
    ours = {"PYTHONPATH", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_TMPDIR", "SWITCHYARD_WORKER"}
    assert seen - ours == emitted


def test_every_setting_of_the_process_manager_has_its_row() -> None:
    table = rows("The original process manager's settings")
    assert table.keys() == PROCESS_MANAGER
    assert all(was and now for was, now in table.values())
