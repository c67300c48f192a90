"""No adapter changes the state, fence, attempt or due time of a task or a job by itself, or makes
a write depend on them: transitions do, and one translator and one applier write those.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[3] / "layers/shared/python/switchyard"
ADAPTERS = PACKAGE / "adapters"
EXEMPT = {
    "dynamodb/transition_writes.py": "the translator",
    "dynamodb/items.py": "items to objects and back",
}
FIELDS = {"state", "fence", "attempt", "due_at_ms"}
NAMES = {"DUE_AT", "DUE_SHARD"}
MAKERS = {"replace", "Task", "Job"}
READERS = {"query", "pages", "scan"}
CONDITION = re.compile(rf"#({'|'.join(sorted(FIELDS))})\b")


def violations(source: str) -> list[str]:
    """Name what a module has of its own that belongs to a transition."""
    tree = ast.parse(source)
    read = {id(node) for call in _calls(tree, READERS) for node in ast.walk(call)}
    found = [_violation(node) for node in ast.walk(tree) if id(node) not in read]
    return [*filter(None, found), *_due_times(tree), *_in_updates(tree)]


def _violation(node: ast.AST) -> str | None:
    match node:
        case ast.Constant(value=str(text)) if found := CONDITION.search(text):
            return f"line {node.lineno}: a condition on {found[1]}"
        case ast.Dict(keys=keys) if names := {*map(_name, keys)} & (FIELDS | NAMES):
            return f"line {node.lineno}: writes {', '.join(sorted(names))}"
        case ast.Subscript(ctx=ast.Store(), slice=key) if _name(key) in FIELDS | NAMES:
            return f"line {node.lineno}: writes {_name(key)}"
        case ast.Call(func=func, keywords=keywords) if _name(func) in MAKERS:
            names = {keyword.arg or "" for keyword in keywords} & FIELDS
            return f"line {node.lineno}: writes {', '.join(sorted(names))}" if names else None
    return None


def _due_times(tree: ast.AST) -> Iterator[str]:
    """Find imports of the module that says when something is due."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            imported = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            if "switchyard.domain.tasks.due" in imported:
                yield f"line {node.lineno}: decides a due time"


def _in_updates(tree: ast.AST) -> Iterator[str]:
    for call in _calls(tree, {"Update"}):
        for node in ast.walk(call):
            if isinstance(node, ast.Name) and node.id in NAMES:
                yield f"line {node.lineno}: writes {node.id}"


def _calls(tree: ast.AST, names: set[str]) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in names:
            yield node


def _name(node: ast.expr | None) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def modules() -> list[str]:
    found = {path.relative_to(ADAPTERS).as_posix(): path for path in ADAPTERS.rglob("*.py")}
    return sorted(name for name in found if name not in EXEMPT and not is_about_alerts(found[name]))


def is_about_alerts(path: Path) -> bool:
    """Alerts have fences and due times of their own, and nothing to do with tasks and jobs."""
    source = path.read_text(encoding="utf-8")
    return "domain.alerts" in source and not re.search(r"domain\.(tasks|jobs|transition)", source)


@pytest.mark.parametrize("module", modules())
def test_an_adapter_leaves_state_to_transitions(module: str) -> None:
    assert violations((ADAPTERS / module).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("module", EXEMPT)
def test_what_is_exempt_is_there(module: str) -> None:
    assert (ADAPTERS / module).exists()


PLANTED = {
    "a new state": 'table.update(key, Update(set={"state": TaskState.QUEUED}, condition=OURS))',
    "a raised fence": 'Update(add={"fence": 1}, condition="attribute_exists(#PK)")',
    "an attempt that is given back": 'changes = {"attempt": -1}',
    "a due time": 'Update(set={"due_at_ms": now_ms + 60_000}, condition=OURS)',
    "a due time by its name in the table": "changes = {DUE_AT: now_ms + 60_000}",
    "a cleared due time": "Update(remove=(DUE_SHARD, DUE_AT), condition=OURS)",
    "a condition": 'Update(set={"a": 1}, condition="#state = :open AND #run = :run")',
    "a condition that has a name": 'HELD = "#owner = :owner AND #fence = :fence"',
    "a condition that is put together": 'held = f"{ours} AND #attempt < #max_attempts"',
    "a condition on the due time": 'Update(condition=f"#{DUE_AT} = :old")',
    "an item that is changed": 'item["state"] = "QUEUED"',
    "a task that is changed in memory": "state.tasks[ref] = replace(task, fence=task.fence + 1)",
    "a job that is changed in memory": "self._jobs[ref] = dataclasses.replace(job, state=OPEN)",
    "a due time of its own": "from switchyard.domain.tasks import due",
    "a due time of its own, by name": "from switchyard.domain.tasks.due import AFTER_READY",
}


@pytest.mark.parametrize("source", PLANTED.values(), ids=PLANTED)
def test_a_planted_violation_is_found(source: str) -> None:
    assert violations(source)


HARMLESS = {
    "a read": 'TaskState(item["state"])',
    "a key condition": 'table.pages(f"#{DUE_SHARD} = :shard AND #{DUE_AT} <= :now", values)',
    "another condition": 'Update(set={"tasks": after}, condition="#tasks = :before")',
    "a payload": "replace(payload, output=output)",
}


@pytest.mark.parametrize("source", HARMLESS.values(), ids=HARMLESS)
def test_what_is_no_state_change_is_left_alone(source: str) -> None:
    assert violations(source) == []
