"""Looks for tenants' data that costs us more than it should: grows it, and counts processor time.

A *family* makes a document of about so many bytes that repeats one construct. Each is given to what
reads it at the largest size that is accepted, in a process of its own that can be ended.
"""

import json
import os
import random
import resource
import signal
import sys
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from switchyard.contracts.json_schema import MAX_SCHEMA_BYTES, problem_with
from switchyard.domain.error_text import without_secrets
from switchyard.domain.errors import InvalidCondition
from switchyard.domain.jobs.condition_parser import MAX_CHARACTERS, parse_condition
from switchyard.domain.jobs.conditions import evaluate
from switchyard.domain.json_values import problem_in
from switchyard.domain.prompts.placeholders import MissingValue, Values, fill_placeholders
from switchyard.domain.prompts.references import NotAReference, references_in
from switchyard.domain.text import without_control_characters
from switchyard.domain.triggers.job_templates import NoValue, render, template_problems
from switchyard.domain.triggers.schedules import InvalidSchedule, next_run_ms, parse_schedule
from switchyard.domain.triggers.triggers import pattern_problems
from switchyard_cli.files.yaml_source import NotReadable, parse_yaml

MAX_SECONDS: Final = 10  # the largest that are accepted take linear time, some of them seconds
TEXT_BYTES: Final = 1_000_000
EVENT: Final = {"event": {"detail": {"x": "y" * 100_000, "list": [[]] * 10_000}}}


@dataclass(frozen=True, slots=True)
class Probe:
    """One document, and what reads it."""

    name: str
    read: Callable[[], object]


def _schema_families() -> Iterator[tuple[str, Callable[[int], Any]]]:
    def nested(wrap: Callable[[Any], Any]) -> Callable[[int], Any]:
        def made(size: int) -> Any:
            schema: Any = {}
            for _ in range(30):
                schema = wrap(schema)
            return schema

        return made

    yield "allOf", nested(lambda inner: {"allOf": [inner]})
    yield "not", nested(lambda inner: {"not": inner})
    yield "unevaluated", nested(lambda inner: {"allOf": [inner], "unevaluatedItems": inner and {}})
    yield "dependent", nested(lambda inner: {"dependentSchemas": {"a": inner}})
    yield "many anyOf", lambda size: {"anyOf": [{"type": "object"}] * (size // 20)}
    yield "many properties", lambda size: {"properties": {str(n): {} for n in range(size // 14)}}
    yield "many enum", lambda size: {"enum": [{"n": n} for n in range(size // 12)]}
    yield "required objects", lambda size: {"required": [{"n": n} for n in range(size // 14)]}
    yield "type objects", lambda size: {"type": [{"n": n} for n in range(size // 14)]}
    yield "required words", lambda size: {"required": [str(n) for n in range(size // 9)]}
    yield (
        "required twice",
        lambda size: {"dependentRequired": {"a": [[n] for n in range(size // 9)]}},
    )
    yield "wide classes", lambda size: {"pattern": "(?i)" + "[\x20-\U0010fffe]" * (size // 9)}
    yield (
        "many patterns",
        lambda size: {
            "patternProperties": {f"(?i)[\x20-\U0010fffe]{n}": {} for n in range(size // 30)}
        },
    )
    yield "nested groups", lambda size: {"pattern": "(" * 90 + "a" + ")*" * 90}
    yield "many groups", lambda size: {"pattern": "(a|b)*" * (size // 7)}
    yield "repeats", lambda size: {"pattern": "(?:a{1,9}){1,9}" * (size // 16)}
    yield (
        "references",
        lambda size: {"$defs": {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(size // 32)}},
    )
    yield (
        "dynamic",
        lambda size: {
            "$dynamicAnchor": "a",
            "properties": {str(n): {"$dynamicRef": "#a"} for n in range(size // 30)},
        },
    )
    yield "multipleOf", lambda size: {"multipleOf": 1e-300, "maximum": 1e300}


_KEYWORDS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE: Final = (
    "not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames",
    "unevaluatedProperties", "unevaluatedItems",
)  # fmt: skip


def random_schema(dice: random.Random, depth: int) -> Any:
    """Any shape of schema, a few levels deep."""
    if depth == 0 or dice.random() < 0.1:
        return dice.choice(
            [{}, True, {"type": "object"}, {"const": 1}, {"pattern": "(a|a)*b"}, {"$ref": "#"}]
        )
    keyword = dice.choice([*_KEYWORDS, *_SINGLE, "properties", "patternProperties", "$defs"])
    inner = [random_schema(dice, depth - 1) for _ in range(dice.randint(1, 3))]
    if keyword in _KEYWORDS:
        return {keyword: inner, dice.choice(_SINGLE): random_schema(dice, depth - 1)}
    if keyword in _SINGLE:
        return {keyword: inner[0]}
    return {keyword: {f"a{n}": schema for n, schema in enumerate(inner)}}


def schema_probes(dice: random.Random) -> Iterator[Probe]:
    for name, family in _schema_families():
        schema = family(MAX_SCHEMA_BYTES - 2_000)
        yield Probe(f"registration: {name}", partial(problem_with, schema))
    for number in range(5):
        schema = random_schema(dice, 7)
        yield Probe(f"registration: random {number}", partial(problem_with, schema))


def _texts(size: int, parts: tuple[str, ...], dice: random.Random) -> Iterator[tuple[str, str]]:
    for part in parts:
        yield part, part * (size // len(part))
    for number in range(3):
        yield f"random {number}", "".join(dice.choices(parts, k=size // 4))


def _quietly(read: Callable[[], object], *expected: type[Exception]) -> Callable[[], object]:
    def reading() -> object:
        try:
            return read()
        except expected as refused:
            return refused

    return reading


REFERENCES: Final = (
    "${tasks.", "${tasks.a.output", '${tasks.a.output["', "\\", '["\\"]', "$${",
    "${tasks.a.output}", ".a", "[0]", "$", "{", "}",
)  # fmt: skip
PLACEHOLDERS: Final = (
    "{{", "{{ ", "}}", "{{input}}", "{{input.", "a.", ".", " ", "{{steps.a.output}}",
)  # fmt: skip
TEMPLATES: Final = (
    "{{event", "{{event.", "{{event.detail.x}}", "{{ ", "}", "{{schedule.time}}", " ",
)  # fmt: skip
CONDITIONS: Final = (
    "(", "not ", "[1,", "'", '"\\', "\\u0041", "9", "-", "=", "${tasks.a.output", '["\\"]', "or ",
    "${tasks.a.output}", "true and ", "exists ", "x", "\n", "\u200b",
)  # fmt: skip
COMPARISONS: Final = ("l} == ${tasks.b.output.l}", "s} not in ${tasks.b.output.l}",
    "l} not in ${tasks.b.output.m}", "s} not in ${tasks.b.output.s}")  # fmt: skip
ROOTS: Final = frozenset({"event", "schedule"})
SECRETS: Final = (
    "sk-", "eyJ", "eyJaaaaaaaa.", "token=", "token:'", "bearer ", "a://", "a+.-", "@", "/home/",
    "api_key", "AKIA", " ", "\t", "-", "=", "[redacted]", "secret = ", "password", "\u202e",
    "\x1b[",
)  # fmt: skip


def text_probes(dice: random.Random) -> Iterator[Probe]:
    for name, text in _texts(TEXT_BYTES, REFERENCES, dice):
        read = _quietly(partial(references_in, [text]), NotAReference)
        yield Probe(f"references: {name}", read)
    for name, text in _texts(20_000, PLACEHOLDERS, dice):
        values = Values(input={"a": "x" * 100_000}, steps={"a": [[]] * 10_000})
        read = _quietly(partial(fill_placeholders, text, values), MissingValue)
        yield Probe(f"placeholders: {name}", read)
    for name, text in _texts(190_000, TEMPLATES, dice):
        template = {"tasks": [{"input": text}], "name": text}
        yield Probe(f"templates: {name}", partial(template_problems, template, roots=ROOTS))
        read = _quietly(partial(render, template, EVENT), NoValue, NotAReference)
        yield Probe(f"rendering: {name}", read)
    for name, text in _texts(TEXT_BYTES, SECRETS, dice):
        yield Probe(f"redaction: {name}", partial(without_secrets, text))
        yield Probe(f"cleaning: {name}", partial(without_control_characters, text))


def condition_probes(dice: random.Random) -> Iterator[Probe]:
    for name, text in _texts(MAX_CHARACTERS, CONDITIONS, dice):
        read = _quietly(partial(parse_condition, text[:MAX_CHARACTERS]), InvalidCondition)
        yield Probe(f"conditions: {name}", read)
    items = json.dumps([{"n": n} for n in range(30_000)])
    one = {"l": json.loads(items), "s": "a" * 1_000_000 + "b"}
    other = {"l": json.loads(items), "m": [[0, *json.loads(items)[1:]]] * 9, "s": "a" * 10_000_000}
    for comparison in COMPARISONS:
        condition = parse_condition(" and ".join([f"${{tasks.a.output.{comparison}"] * 38))
        read = partial(evaluate, condition, {"a": one, "b": other})
        yield Probe(f"evaluation: {comparison}", read)


def _yaml(text: str) -> object:
    """Read the text as the CLI reads a file: it reports these errors with a line."""
    try:
        return parse_yaml(text)
    except (NotReadable, RecursionError, ValueError) as refused:
        return refused


def document_probes(dice: random.Random) -> Iterator[Probe]:
    merges = "a0: &a0 {x: 1}\n" + "".join(
        f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 40)
    )
    aliases = "a0: &a0 [x]\n" + "".join(
        f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60)
    )
    texts = {
        "merges": merges,
        "aliases": aliases,
        "itself": "a: &a [*a]",
        "deep flow": "[" * 100_000,
        "deep block": "".join(" " * n + "a:\n" for n in range(2_000)),
        "long number": "a: " + "9" * 100_000,
        "long float": "a: " + "9" * 100_000 + ".e",
        "many keys": "".join(f"k{n}: 1\n" for n in range(20_000)),
        "tags": "!!str " * 20_000,
        "quotes": "a: '" + "'" * 99_999,
    }
    for name, text in texts.items():
        yield Probe(f"YAML: {name}", partial(_yaml, text))
    for name, text in {
        "commas": "cron(" + "*," * 100_000 + "* * ? * * *)",
        "long step": "cron(0/" + "9" * 100_000 + " * ? * * *)",
        "digits": "rate(" + "1" * 100_000 + " minutes)",
        "never": "cron(0 0 30 2 ? 2199)",
    }.items():
        yield Probe(f"schedule: {name}", _quietly(partial(_next, text), InvalidSchedule))
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    for name, value in {"deep": deep, "wide": [[]] * 3_000_000}.items():
        yield Probe(f"JSON: {name}", partial(problem_in, value))
    pattern: Any = ["x"]
    for _ in range(60):
        pattern = {"a": pattern, "b": ["y"]}
    yield Probe("pattern: deep", partial(pattern_problems, pattern))


def _next(text: str) -> object:
    return next_run_ms(parse_schedule(text), after_ms=0, since_ms=0)


def probes(seed: int) -> Iterator[Probe]:
    dice = random.Random(seed)
    for found in (schema_probes, text_probes, condition_probes, document_probes):
        yield from found(dice)


def seconds_of(probe: Probe) -> float | str:
    """Processor time that it took, or what went wrong; in a fork, which can be ended."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _run_and_leave(probe, writing)
    os.close(writing)
    with os.fdopen(reading) as answer:
        said = answer.read()
    _, status, usage = os.wait4(pid, 0)
    if os.WIFSIGNALED(status):
        return f"ended by {signal.Signals(os.WTERMSIG(status)).name} after {MAX_SECONDS} s"
    return said or usage.ru_utime + usage.ru_stime


def _run_and_leave(probe: Probe, writing: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    try:
        probe.read()
    except BaseException as error:  # noqa: BLE001 - told to the parent
        os.write(writing, f"raised {type(error).__name__}: {error}"[:300].encode())
    os._exit(0)


def faults(seed: int, *, only: Container[str] | None = None) -> list[str]:
    """What took too long or was raised, of all probes or those of these names."""
    found = []
    for probe in probes(seed):
        if only is not None and probe.name not in only:
            continue
        took = seconds_of(probe)
        if isinstance(took, str):
            found.append(f"{probe.name}: {took}")
    return found


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    wrong = 0
    for seed in range(count):
        for fault in faults(seed):
            wrong += 1
            sys.stdout.write(f"seed {seed}: {fault}\n")
    sys.stdout.write(json.dumps({"seeds": count, "faults": wrong}) + "\n")
    sys.exit(1 if wrong else 0)
