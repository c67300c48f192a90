"""Reads YAML into what JSON can say, and remembers on which line everything stands."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import yaml

from switchyard.domain.errors import Problem

Place = tuple[str | int, ...]

MOST_QUOTED: Final = 80
"""Characters of the line that cannot be read."""
MAX_NODES: Final = 200_000  # a few nested aliases can stand for billions of nodes
_TAG: Final = "tag:yaml.org,2002:"
_JSON_TYPES: Final = ("null", "bool", "int", "float", "str", "seq", "map")
_MERGE: Final = f"{_TAG}merge"
_TEXT: Final = f"{_TAG}str"


class CoreLoader(yaml.SafeLoader):
    """YAML 1.2's core types: `no` is a word, `12:30` is not 750, dates stay text."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML declares it, without ClassVar
        None: [
            (f"{_TAG}null", re.compile(r"^(?:~|null|)$")),
            (f"{_TAG}bool", re.compile(r"^(?:true|false)$")),
            (f"{_TAG}int", re.compile(r"^-?(?:0|[1-9][0-9]*)$")),
            (f"{_TAG}float", re.compile(r"^-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$")),
            (_MERGE, re.compile(r"^<<$")),
        ]
    }
    yaml_constructors: ClassVar[dict[Any, Any]] = {
        tag: construct
        for tag, construct in yaml.SafeLoader.yaml_constructors.items()
        if tag is None or tag.removeprefix(_TAG) in _JSON_TYPES
    }


class NotReadable(Exception):
    """The text is not a document at all."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass
class Outline:
    """The lines of all places of a document, and the problems of its form."""

    lines: dict[Place, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def line_of(self, place: Place) -> int:
        """Return the line of the place, or of the nearest one around it that is in the file."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


def parse_yaml(text: str) -> tuple[Any, Outline]:
    try:
        loader = CoreLoader(text)
        node = loader.get_single_node()
        if node is None:
            raise NotReadable(1, "the file is empty")
        outline = outline_of(node)
        return (None if outline.problems else loader.construct_document(node)), outline
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error, text) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise NotReadable(line, f"not YAML: {error.reason}") from error


_INDENTED: Final = "this line is not indented like the lines that it belongs to"
_OUR_WORDS: Final = (
    ("'\\t'", "a tab; use spaces"),
    ("expected <block end>, but found '<block mapping start>'", _INDENTED),
    ("expected <block end>, but found '<block sequence start>'", _INDENTED),
    ("expected <block end>, but found '-'", _INDENTED),
    ("expected <block end>, but found '?'", _INDENTED),
    (
        "mapping values are not allowed here",
        "this colon is not expected: indent the line like the one above, give that one its own "
        "colon, or put a text with a colon in quotes",
    ),
    ("could not find expected ':'", "a field needs a colon and a blank after its name"),
)
_LEFT_OPEN: Final = {
    "while scanning a quoted scalar": "the quote from line {} is not closed",
    "while parsing a flow sequence": "a comma is missing, or the [ from line {} is not closed",
    "while parsing a flow mapping": "a comma is missing, or the {{ from line {} is not closed",
}


def _not_yaml(error: yaml.MarkedYAMLError, text: str) -> NotReadable:
    """Say it in our words where the parser's are about itself, with the column and the line."""
    mark = error.problem_mark or error.context_mark
    problem = error.problem or "it cannot be read"
    began = error.context_mark.line + 1 if error.context_mark else 1
    ours = next((words for theirs, words in _OUR_WORDS if theirs in problem), None)
    left_open = _LEFT_OPEN.get(error.context or "")
    if ours is None and left_open:
        ours = left_open.format(began)
    elif ours is None and (error.context or "").startswith("while "):
        ours = f"{problem} ({error.context} from line {began})"
    place = f", at {_place_of(mark, text)}" if mark else ""
    return NotReadable(mark.line + 1 if mark else 1, f"not YAML: {ours or problem}{place}")


def _place_of(mark: yaml.Mark, text: str) -> str:
    lines = text.splitlines()
    if mark.line >= len(lines):
        return "the end of the file"
    line = lines[mark.line].strip()[:MOST_QUOTED]
    return f"column {mark.column + 1}: {line!r}"


def outline_of(root: yaml.Node) -> Outline:
    walk = _Walk(Outline())
    walk.visit(root, (), root.start_mark.line)
    return walk.outline


@dataclass
class _Walk:
    outline: Outline
    ancestors: list[yaml.Node] = field(default_factory=list)
    seen: int = 0

    def visit(self, node: yaml.Node, place: Place, line: int) -> None:
        self.seen += 1
        if self.seen > MAX_NODES or node in self.ancestors:
            raise NotReadable(line + 1, "aliases make the document endless or far too large")
        self.outline.lines[place] = line + 1
        self.ancestors.append(node)
        if isinstance(node, yaml.MappingNode):
            self._visit_fields(node, place)
        elif isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                self.visit(item, (*place, index), item.start_mark.line)
        self.ancestors.pop()

    def _visit_fields(self, node: yaml.MappingNode, place: Place) -> None:
        first_lines: dict[str, int] = {}
        for key, value in node.value:
            if key.tag == _MERGE:  # what it brings in counts: merges of merges double each time
                self.visit(value, (*place, "<<"), key.start_mark.line)
                continue
            line = key.start_mark.line
            self._check_key(key, place, first_lines)
            first_lines.setdefault(str(key.value), line + 1)
            self.visit(value, (*place, str(key.value)), line)

    def _check_key(self, key: yaml.Node, place: Place, first_lines: Mapping[str, int]) -> None:
        field_place = (*place, str(key.value))
        if key.tag != _TEXT:
            self._complain(field_place, key, "a field's name must be text; put it in quotes")
        elif key.value in first_lines:
            first = first_lines[key.value]
            self._complain(field_place, key, f"given twice, first on line {first}")

    def _complain(self, place: Place, key: yaml.Node, message: str) -> None:
        self.outline.lines[place] = key.start_mark.line + 1
        self.outline.problems.append(Problem(place, message))
