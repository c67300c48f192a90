"""Read JSON: values from `json`, line numbers from the YAML parser, which records them."""

import json
from typing import Any, NoReturn

import yaml

from switchyard_cli.files.yaml_source import CoreLoader, NotReadable, Outline, outline_of


def parse_json(text: str) -> tuple[Any, Outline]:
    try:
        value = json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise NotReadable(error.lineno, f"not JSON: {error.msg}") from error
    return value, _outline(text)


def _no_number(constant: str) -> NoReturn:
    raise NotReadable(1, f"not JSON: {constant} is not a number")


def _outline(text: str) -> Outline:
    # YAML forbids tabs between tokens; inside a JSON string there can be none.
    try:
        root = yaml.compose(text.replace("\t", " "), CoreLoader)
    except yaml.YAMLError:  # a few odd but valid JSON documents, such as with very long keys
        return Outline()
    return outline_of(root) if root else Outline()
