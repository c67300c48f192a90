"""Job templates: a job whose texts name parts of the event that starts it.

    {{event.detail.object.key}}     a part of the event, as EventBridge delivers it
    {{event.resources.0}}           an item of a list
    {{schedule.time}}               when a schedule fired

A text that is one placeholder becomes the value itself; inside a longer text a value becomes text.
Each must have a value. Placeholders of descriptions (`{{input.x}}`, `{{tasks.a.output}}`,
`{{steps.a.output}}`) stay as written, and so do references such as `${tasks.a.output}` in inputs:
no event can bring one in, or take one away. Other names in double braces are refused when a trigger
is written; in one that was stored before, they stay as written.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from switchyard.domain.errors import Problem
from switchyard.domain.prompts.placeholders import DESCRIPTION_ROOTS, is_index
from switchyard.domain.prompts.references import NotAReference, Place, as_text, parts_of
from switchyard.domain.tasks.task import Json
from switchyard.domain.text import did_you_mean

EVENT: Final = "event"
SCHEDULE: Final = "schedule"

MAX_RENDERED: Final = 6_000_000  # characters: a submission has about as much room

_NAME: Final = r"[A-Za-z0-9_-]+"
_PLACEHOLDER: Final = re.compile(rf"\{{\{{\s*((?:{EVENT}|{SCHEDULE})(?:\.{_NAME})*)\s*\}}\}}")
_MEANT_AS_ONE: Final = re.compile(rf"\{{\{{\s*(?:{EVENT}|{SCHEDULE})\b[^}}]*\}}?\}}?")


_ANY_NAME: Final = re.compile(rf"\{{\{{\s*({_NAME}(?:\.{_NAME})*)\s*\}}\}}")
_OF_SCHEDULE: Final = ("time",)
_OF_EVENT: Final = (
    *("account", "detail", "detail-type", "id", "region", "replay-name", "resources", "source"),
    *("time", "version"),
)
"""The fields of an event that EventBridge delivers; one that is fired by hand may have more."""


class NoValue(ValueError):
    """A placeholder stands for nothing. Says nothing of the event's own words."""


@dataclass(frozen=True, slots=True)
class _Placeholder:
    text: str
    path: tuple[str, ...]


_Part = str | _Placeholder


def template_problems(template: Json, *, roots: frozenset[str]) -> list[Problem]:
    """Return the problems of the placeholders. `roots` are those that will have a value."""
    problems = []
    for path, text in _texts(template):
        problems += [Problem(path, message) for message in _complaints(text, roots)]
        if _is_structure(path) and _PLACEHOLDER.search(text):
            problems.append(Problem(path, "has to be written out: no event may bring all of it"))
        if _of_input(path):
            problems += _broken_references(path, text)
    return problems


def render(template: Json, values: Mapping[str, Json]) -> Json:
    """The job, with every placeholder replaced once. Raise `NoValue`."""
    _check_size(template, values)
    return _rendered(template, values, ())


def _check_size(template: Json, values: Mapping[str, Json]) -> None:
    """An event of 256 KB may be asked for thousands of times. Raise `NoValue`."""
    sizes: dict[str, int] = {}
    total = 0
    for _, text in _texts(template):
        for part in _parts(text):
            if isinstance(part, _Placeholder):
                if part.text not in sizes:
                    sizes[part.text] = len(as_text(_value(part, values)))
                total += sizes[part.text]
                if total > MAX_RENDERED:
                    raise NoValue(
                        f"with {part.text} the template's placeholders bring in more than "
                        f"{MAX_RENDERED:,} characters"
                    )


def with_stand_ins(template: Json) -> Json:
    """Return the template as it may look once rendered, to be checked before there is an event.

    What is equal before is equal afterwards, and nothing else, so that names that belong together
    still do, and others do not.
    """
    return _with_stand_ins(template, {})


def has_placeholder_at(template: Json, path: Place) -> bool:
    """Whether what stands there, or around it, is only known once there is an event."""
    for step in path:
        if isinstance(template, str):
            break
        try:
            template = template[step]
        except (KeyError, IndexError, TypeError):
            return False
    return isinstance(template, str) and bool(_PLACEHOLDER.search(template))


def _complaints(text: str, roots: frozenset[str]) -> Iterator[str]:
    for meant in _MEANT_AS_ONE.finditer(text):
        found = _PLACEHOLDER.fullmatch(meant[0])
        if found is None:
            yield f"{meant[0]} is no placeholder: one looks like {{{{event.detail.name}}}}"
        elif found[1].partition(".")[0] not in roots:
            yield f"{meant[0]} has no value here: only a trigger with a schedule has that"
        else:
            yield from _unknown_member(meant[0], found[1].split("."))
    yield from _unknown_roots(text, roots)


def _unknown_roots(text: str, roots: frozenset[str]) -> Iterator[str]:
    known = (*sorted(roots), *DESCRIPTION_ROOTS)
    has = " and ".join(sorted(roots))
    for name in dict.fromkeys(_ANY_NAME.findall(text)):
        root = name.partition(".")[0]
        if root not in (EVENT, SCHEDULE, *DESCRIPTION_ROOTS):
            hint = did_you_mean(root, known)
            yield f"{{{{{name}}}}} has no value: the trigger has {has}{hint}"


def _unknown_member(text: str, path: list[str]) -> Iterator[str]:
    """Yield a complaint about a member that nothing has, or that is a mistyped one of an event."""
    match path:
        case ["schedule", name, *rest] if name not in _OF_SCHEDULE or rest:
            yield f"{text} has no value: a schedule has {{{{schedule.time}}}} alone"
        case ["event", name, *_] if name not in _OF_EVENT:
            hint = did_you_mean(name, _OF_EVENT)
            if hint:
                yield f"{text} has no value: EventBridge's events have no {name!r}{hint}"


def _with_stand_ins(template: Json, known: dict[str, str]) -> Json:
    match template:
        case str():
            return _PLACEHOLDER.sub(
                lambda found: known.setdefault(found[1], f"x{len(known) + 1}"), template
            )
        case Mapping():
            return {name: _with_stand_ins(inner, known) for name, inner in template.items()}
        case list() | tuple():
            return [_with_stand_ins(inner, known) for inner in template]
    return template


def _broken_references(path: Place, text: str) -> list[Problem]:
    try:
        for part in _parts(text):
            if isinstance(part, str):
                parts_of(part)
    except NotAReference as error:
        return [Problem(path, str(error))]
    return []


def _texts(value: Json, path: Place = ()) -> Iterator[tuple[Place, str]]:
    match value:
        case str():
            yield path, value
        case Mapping():
            for name, inner in value.items():
                yield from _texts(inner, (*path, name))
        case list() | tuple():
            for index, inner in enumerate(value):
                yield from _texts(inner, (*path, index))


def _rendered(value: Json, values: Mapping[str, Json], path: Place) -> Json:
    match value:
        case str():
            return _filled_input(value, values) if _of_input(path) else _filled(value, values)
        case Mapping():
            return {name: _rendered(inner, values, (*path, name)) for name, inner in value.items()}
        case list() | tuple():
            return [_rendered(inner, values, (*path, index)) for index, inner in enumerate(value)]
    return value


def _of_input(path: Place) -> bool:
    """Return whether it is in an input, `tasks.3.input…`: references are only looked for there."""
    return len(path) > 2 and path[0] == "tasks" and path[2] == "input"


def _is_structure(path: Place) -> bool:
    """Return whether it is `tags`, `tasks` or `tasks.3`, which must not come as a whole."""
    return path == ("tags",) or (path[:1] == ("tasks",) and len(path) <= 2)


def _filled(text: str, values: Mapping[str, Json]) -> Json:
    parts = _parts(text)
    match parts:
        case [_Placeholder() as only]:
            return _value(only, values)
    return "".join(_text(part, values) for part in parts)


def _filled_input(text: str, values: Mapping[str, Json]) -> Json:
    parts = _parts(text)
    match parts:
        case [_Placeholder() as only]:
            return _without_references(_value(only, values))
        case [str() as plain]:
            return plain
    return _joined(parts, values)


def _joined(parts: list[_Part], values: Mapping[str, Json]) -> str:
    """The template's own references stay; in the text between them nothing can become one."""
    done, plain = "", ""
    for part in parts:
        for piece in parts_of(part) if isinstance(part, str) else [_text(part, values)]:
            if isinstance(piece, str):
                plain += piece
                continue
            if plain.endswith("$"):
                raise NoValue(f"a $ that an event brings cannot stand before {piece.text}")
            done, plain = f"{done}{_escaped(plain)}{piece.text}", ""
    return done + _escaped(plain)


def _without_references(value: Json) -> Json:
    match value:
        case str():
            return _escaped(value)
        case Mapping():
            return {name: _without_references(inner) for name, inner in value.items()}
        case list():
            return [_without_references(inner) for inner in value]
    return value


def _escaped(text: str) -> str:
    return text.replace("${", "$${")


def _parts(text: str) -> list[_Part]:
    parts: list[_Part] = []
    done = 0
    for found in _PLACEHOLDER.finditer(text):
        parts += [text[done : found.start()], _Placeholder(found[0], tuple(found[1].split(".")))]
        done = found.end()
    return [part for part in (*parts, text[done:]) if part != ""]


def _text(part: _Part, values: Mapping[str, Json]) -> str:
    return part if isinstance(part, str) else as_text(_value(part, values))


def _value(placeholder: _Placeholder, values: Mapping[str, Json]) -> Json:
    value: Json = values
    for number, name in enumerate(placeholder.path):
        place = ".".join(placeholder.path[:number]) or "the trigger"
        match value:
            case Mapping() if name in value:
                value = value[name]
            case list() if is_index(name) and int(name) < len(value):
                value = value[int(name)]
            case _:
                raise NoValue(f"{placeholder.text} has no value: {place} has no {name!r}")
    return value
