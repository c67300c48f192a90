"""The prompt of a task: Role, Task, Input, Context from Previous Tasks."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from switchyard.domain.text import clean_values, without_control_characters

_PLACEHOLDER: Final = re.compile(r"\{\{\s*([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\s*\}\}")


def build_prompt(*, tag: str, description: str, given: Any, context: Mapping[str, Any]) -> str:
    """`given` is the task's input, `context` the outputs of those it depends on."""
    given = clean_values(given)
    sections = {
        "Role": f"You are: {without_control_characters(tag)}",
        "Task": fill_placeholders(without_control_characters(description), given),
        "Input": _fenced(given),
        "Context from Previous Tasks": _context(clean_values(context)),
    }
    return "\n\n".join(f"# {title}\n\n{body}" for title, body in sections.items()) + "\n"


def fill_placeholders(text: str, given: Any) -> str:
    """Replace `{{name}}` and `{{outer.inner}}` once; what the input lacks stays as written."""

    def value(match: re.Match[str]) -> str:
        found = _look_up(given, match[1].split("."))
        if found is None:
            return match[0]
        return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)

    return _PLACEHOLDER.sub(value, text)


def _look_up(given: Any, path: list[str]) -> Any:
    for name in path:
        given = given.get(name) if isinstance(given, Mapping) else None
    return given


def _context(outputs: Mapping[str, Any]) -> str:
    if not outputs:
        return "None."
    return "\n\n".join(f"## {task_id}\n\n{_fenced(output)}" for task_id, output in outputs.items())


def _fenced(value: Any) -> str:
    """No line of indented JSON can begin with the fence, so no value can close it."""
    return f"```json\n{json.dumps(value, indent=2, ensure_ascii=False)}\n```"
