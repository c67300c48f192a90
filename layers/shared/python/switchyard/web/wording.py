"""Reads the descriptions of models' fields from the texts below the fields.

Pydantic could read them too, but at every start of every function.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from itertools import pairwise

from pydantic import BaseModel


def field_descriptions(model: type[BaseModel]) -> Mapping[str, str]:
    """Return descriptions by the field's outside name; a derived model's own words win."""
    found: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        if issubclass(kind, BaseModel) and kind is not BaseModel:
            found |= dict(_texts_in(kind))
    fields = model.model_fields
    return {fields[name].alias or name: words for name, words in found.items() if name in fields}


def _texts_in(kind: type[BaseModel]) -> Iterator[tuple[str, str]]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    for field, below in pairwise(tree.body if isinstance(tree, ast.ClassDef) else ()):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str() as text)),
            ):
                yield name, " ".join(text.split())
