"""Renders the description of the API as one page that loads nothing else."""

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

Document = Mapping[str, Any]

_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --dim: #8889; --mark: #2a7; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .5rem 0;
  padding: .5rem 1rem; }
summary { cursor: pointer; }
summary code { font-weight: 600; }
summary span { opacity: .75; margin-left: .5rem; }
.method { color: var(--mark); display: inline-block; min-width: 4.2rem; }
code, pre { font: .875rem/1.5 ui-monospace, monospace; }
pre { border: 1px solid var(--line); border-radius: .4rem; padding: .75rem; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; }
td, th { border-bottom: 1px solid var(--line); padding: .3rem .6rem .3rem 0; text-align: left;
  vertical-align: top; }
a { color: inherit; }
"""


def page_of(document: Document) -> str:
    info = document["info"]
    title = f"{escape(info['title'])} {escape(info['version'])}"
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{title}</h1><p>{escape(info['description'])}</p>",
            "<p>Send the key as <code>x-api-key</code>. Programs read the same from "
            "<code>/openapi.json</code>.</p>",
            *_operations(document),
            "<h2>Shapes</h2>",
            *(_shape(name, schema) for name, schema in document["components"]["schemas"].items()),
            "</body></html>",
        ]
    )


def _operations(document: Document) -> Iterator[str]:
    for group in document["tags"]:
        yield f"<h2>{escape(group['name'])}</h2>"
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if group["name"] in operation["tags"]:
                    yield _operation(method, path, operation)


def _operation(method: str, path: str, operation: Document) -> str:
    return "".join(
        [
            f'<details id="{escape(operation["operationId"])}"><summary>',
            f'<code><span class="method">{method.upper()}</span> {escape(path)}</code>',
            f"<span>{escape(operation['summary'])}</span></summary>",
            _parameters(operation.get("parameters", [])),
            _body(operation.get("requestBody")),
            _answers(operation["responses"]),
            "</details>",
        ]
    )


def _parameters(parameters: list[Document]) -> str:
    rows = [
        (
            f"<code>{escape(found['name'])}</code> in {found['in']}",
            _kind(found["schema"]),
            _said(found),
        )
        for found in parameters
    ]
    return _table("Parameters", rows)


def _body(body: Document | None) -> str:
    if body is None:
        return ""
    schema = body["content"]["application/json"]["schema"]
    return f"<p>Body: {_kind(schema)}</p>"


def _answers(responses: Mapping[str, Document]) -> str:
    rows = [
        (f"<code>{status}</code>", ", ".join(_contents(answer)), escape(answer["description"]))
        for status, answer in responses.items()
    ]
    return _table("Answers", rows)


def _contents(answer: Document) -> Iterator[str]:
    for content_type, content in answer["content"].items():
        yield f"{_kind(content.get('schema', {}))} <small>{escape(content_type)}</small>"


def _shape(name: str, schema: Document) -> str:
    required = set(schema.get("required", ()))
    rows = [
        (
            f"<code>{escape(field)}</code>{'' if field in required else '?'}",
            _kind(part),
            _said(part),
        )
        for field, part in schema.get("properties", {}).items()
    ]
    examples = (json.dumps(example, indent=2) for example in schema.get("examples", ()))
    return "".join(
        [
            f'<details id="{escape(name)}"><summary><code>{escape(name)}</code></summary>',
            f"<p>{_said(schema)}</p>" if "description" in schema else "",
            f"<p>{_kind(schema)}</p>" if "enum" in schema else "",
            _table("Fields", rows),
            *(f"<pre>{escape(example)}</pre>" for example in examples),
            "</details>",
        ]
    )


def _table(title: str, rows: list[tuple[str, str, str]]) -> str:
    if not rows:
        return ""
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<table><tr><th colspan="3">{title}</th></tr>{lines}</table>'


def _said(described: Document) -> str:
    return escape(described.get("description", ""))


def _kind(schema: Document) -> str:
    """Link a named shape to its description; describe any other in a few words."""
    match schema:
        case {"$ref": str(reference)}:
            name = escape(reference.rpartition("/")[2])
            return f'<a href="#{name}">{name}</a>'
        case {"anyOf": choices}:
            return " or ".join(map(_kind, choices))
        case {"enum": values}:
            return " · ".join(f"<code>{escape(str(value))}</code>" for value in values)
        case {"type": "array", "items": items}:
            return f"list of {_kind(items)}"
        case {"additionalProperties": dict() as values} if values:
            return f"object of {_kind(values)}"
    return escape(f"{schema.get('type', 'any JSON')}{_bounds(schema)}")


def _bounds(schema: Document) -> str:
    reported = [f"{words} {schema[key]:g}" for key, words in _BOUNDS.items() if key in schema]
    reported += [f"like {schema['pattern']}"] if "pattern" in schema else []
    reported += [f"else {json.dumps(schema['default'])}"] if "default" in schema else []
    return f" ({', '.join(reported)})" if reported else ""


_BOUNDS: Final = {
    "minimum": "from",
    "exclusiveMinimum": "above",
    "maximum": "to",
    "minLength": "at least",
    "maxLength": "at most",
}
