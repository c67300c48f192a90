"""Files with a mistake that people make, and what the answer to each has to name."""

import json
from itertools import pairwise
from typing import Any, Final, NamedTuple

from tests.unit.cli.fakes.api import JOB_ID

JOB: Final = "name: a\ntasks:\n"
TASK: Final = "  - {taskId: scrape, name: scrape}\n"
DEFINITION: Final = "definitions:\n  scrape: {description: Read it., tag: reader}\n"


class Mistake(NamedTuple):
    """A file and the command that reads it, and what the answer has to name."""

    content: str | bytes
    answer: str
    command: tuple[str, ...] = ("submit", "FILE", "--dry-run")
    suffix: str = ".yaml"


def a_task(**fields: Any) -> str:
    return json.dumps({"name": "a", "tasks": [{"taskId": "scrape", "name": "scrape", **fields}]})


def a_definition(**fields: Any) -> str:
    known = {"description": "Read it.", "tag": "reader", **fields}
    tasks = [{"taskId": "scrape", "name": "scrape"}]
    return json.dumps({"name": "a", "tasks": tasks, "definitions": {"scrape": known}})


def a_trigger(**fields: Any) -> str:
    job = {"name": "a", "tasks": [{"taskId": "scrape", "name": "scrape"}]}
    return json.dumps(
        {"triggers": [{"name": "t", "schedule": "rate(1 hour)", "job": job, **fields}]}
    )


APPLY: Final = ("triggers", "apply", "FILE", "--dry-run")
PUT: Final = ("definitions", "put", "FILE")
ADD: Final = ("add", JOB_ID, "FILE", "--dry-run")

FILES: Final = {
    # what is no document
    "empty": Mistake("", "the file is empty"),
    "blank": Mistake("\n\n  \n", "the file is empty"),
    "only a comment": Mistake("# later\n", "the file is empty"),
    "binary": Mistake(b"\x89PNG\r\n\x1a\n\x00\xff\xfe", "is not a text file in UTF-8"),
    "Latin-1": Mistake("name: Café\n".encode("latin-1"), "is not a text file in UTF-8"),
    "UTF-16": Mistake("name: a\n".encode("utf-16"), "is not a text file in UTF-8"),
    "a NUL": Mistake("name: a\x00\n", "not YAML"),
    "a tab": Mistake("name: a\n\ttasks: []\n", "use spaces"),
    "an open quote": Mistake(
        'name: "a\ntasks: []\n',
        "not YAML: the quote from line 1 is not closed, at the end of the file",
    ),
    "an open bracket": Mistake("name: a\ntasks: [\n", "not YAML"),
    "a colon too many": Mistake("name: a: b\n", "not YAML"),
    "wrong indentation": Mistake(
        "name: a\n tasks: []\n",
        "2: not YAML: this colon is not expected: indent the line like the one above, give that "
        "one its own colon, or put a text with a colon in quotes, at column 7: 'tasks: []'",
    ),
    "a field to the left of its task": Mistake(
        JOB + "  - taskId: scrape\n   name: scrape\n",
        "4: not YAML: this line is not indented like the lines that it belongs to, at column 4: "
        "'name: scrape'",
    ),
    "two documents": Mistake("name: a\n---\nname: b\n", "not YAML"),
    "a Python tag": Mistake("name: !!python/object:os.system {}\n", "not YAML"),
    "a date tag": Mistake("name: !!timestamp 2027-01-01\n", "not YAML"),
    "an endless alias": Mistake("name: &a [*a]\n", "aliases"),
    "an unknown alias": Mistake("name: *there\n", "not YAML"),
    "billion laughs": Mistake(
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{n}: &{n} [{','.join([f'*{p}'] * 9)}]\n" for p, n in pairwise("abcdefgh")),
        "aliases",
    ),
    "deep": Mistake("[" * 3_000 + "]" * 3_000, "nested too deeply"),
    "a list": Mistake("- a\n- b\n", "expected fields, found a list"),
    "a word": Mistake("hello\n", "expected fields, found only 'hello'"),
    "a number": Mistake("42\n", "expected fields, found only 42"),
    "cut JSON": Mistake('{"name": "a", ', "not JSON", suffix=".json"),
    "JSON with a comment": Mistake('{"name": "a"} // b', "not JSON", suffix=".json"),
    "JSON with single quotes": Mistake("{'name': 'a'}", "not JSON", suffix=".json"),
    "JSON with a last comma": Mistake('{"name": "a",}', "not JSON", suffix=".json"),
    "JSON with NaN": Mistake('{"name": NaN}', "NaN is not a number", suffix=".json"),
    "YAML called JSON": Mistake("name: a\n", "not JSON", suffix=".json"),
    "an empty JSON": Mistake("", "not JSON", suffix=".json"),
    "half a surrogate pair": Mistake('{"name": "\\ud800"}', "JSON cannot", suffix=".json"),
    "a field twice": Mistake("name: a\nname: b\n", "given twice, first on line 1"),
    "a number as a field": Mistake("1: a\n", "put it in quotes"),
    # fields
    "no tasks": Mistake("name: a\n", "tasks: is required"),
    "no task at all": Mistake("name: a\ntasks: []\n", "tasks: "),
    "an empty name": Mistake("name: ''\ntasks:\n" + TASK, "name: "),
    "a name as a list": Mistake("name: [a]\ntasks:\n" + TASK, "name: "),
    "a long name": Mistake("name: " + "a" * 5_000 + "\ntasks:\n" + TASK, "name: "),
    "Tasks": Mistake("name: a\nTasks:\n" + TASK, "did you mean 'tasks'?"),
    "taks": Mistake("name: a\ntaks:\n" + TASK, "did you mean 'tasks'?"),
    "nmae": Mistake("nmae: a\ntasks:\n" + TASK, "did you mean 'name'?"),
    "definition": Mistake("definition: {}\n" + JOB + TASK, "did you mean 'definitions'?"),
    "an unknown field": Mistake("colour: red\n" + JOB + TASK, "known are name, tags"),
    "tasks as an object": Mistake("name: a\ntasks: {scrape: {}}\n", "tasks: should be a list"),
    "tags as a list": Mistake("tags: [a]\n" + JOB + TASK, "tags: should be an object"),
    "tags with a number": Mistake("tags: {a: 1}\n" + JOB + TASK, "tags.a: "),
    "no task id": Mistake(JOB + "  - {name: scrape}\n", "tasks[0].taskId: is required"),
    "no task name": Mistake(JOB + "  - {taskId: scrape}\n", "tasks[0].name: is required"),
    "taskid": Mistake(JOB + "  - {taskid: a, name: b}\n", "did you mean 'taskId'?"),
    "id": Mistake(JOB + "  - {id: a, name: b}\n", "tasks[0].taskId: is required"),
    "depends-on": Mistake(a_task(**{"depends-on": []}), "did you mean 'dependsOn'?"),
    "dependson": Mistake(a_task(dependson=[]), "did you mean 'dependsOn'?"),
    "inputs": Mistake(a_task(inputs={}), "did you mean 'input'?"),
    "dependsOn as text": Mistake(a_task(dependsOn="a"), "dependsOn: should be a list: write [a]"),
    "a number as task id": Mistake(a_task(taskId=1), "tasks[0].taskId: "),
    "a task id with a blank": Mistake(a_task(taskId="a b"), "tasks[0].taskId: must be"),
    "an empty task id": Mistake(a_task(taskId=""), "tasks[0].taskId: "),
    "a reserved task id": Mistake(a_task(taskId="__a"), "reserved"),
    "a task as text": Mistake(JOB + "  - scrape\n", "tasks[0]: "),
    "an unknown rule": Mistake(a_task(rule="some"), "tasks[0].rule: "),
    # the graph
    "the same id twice": Mistake(JOB + TASK + TASK, "'scrape' is used 2 times"),
    "an unknown parent": Mistake(a_task(dependsOn=["x"]), "depends on 'x', which does not exist"),
    "a mistyped parent": Mistake(
        JOB + TASK + "  - {taskId: b, name: b, dependsOn: [scrpe]}\n", "did you mean 'scrape'?"
    ),
    "a task after itself": Mistake(a_task(dependsOn=["scrape"]), "cycle: scrape → scrape"),
    "a cycle": Mistake(
        JOB
        + "  - {taskId: a, name: a, dependsOn: [b]}\n  - {taskId: b, name: b, dependsOn: [a]}\n",
        "3: tasks[0].dependsOn: the dependencies form a cycle: a → b → a; remove one of these",
    ),
    "a parent twice": Mistake(
        JOB + TASK + "  - {taskId: b, name: b, dependsOn: [scrape, scrape]}\n", "twice"
    ),
    "a reference to nothing": Mistake(
        a_task(input={"a": "${tasks.gone.output}"}), "names 'gone', which does not exist"
    ),
    "a mistyped reference": Mistake(
        JOB
        + TASK
        + "  - {taskId: b, name: b, dependsOn: [scrape], input: {a: '${tasks.scrap.output}'}}\n",
        "did you mean 'scrape'?",
    ),
    "a reference to no parent": Mistake(
        JOB + TASK + "  - {taskId: b, name: b, input: {a: '${tasks.scrape.output}'}}\n",
        "on which 'b' does not depend",
    ),
    "an open reference": Mistake(a_task(input={"a": "${tasks.scrape.output"}), "input.a: "),
    # definitions
    "no description": Mistake(
        "definitions: {scrape: {tag: a}}\n" + JOB + TASK, "definitions.scrape.description: is req"
    ),
    "no tag": Mistake("definitions: {scrape: {description: a}}\n" + JOB + TASK, "tag: is required"),
    "a definition's name": Mistake(
        "definitions: {'a b': {description: a, tag: b}}\n" + JOB + TASK, "definitions.a b: "
    ),
    "maxturn": Mistake(a_definition(maxturn=3), "did you mean 'maxTurns'?"),
    "outputSchmea": Mistake(a_definition(outputSchmea={}), "did you mean 'outputSchema'?"),
    "too many turns": Mistake(a_definition(maxTurns=1_000), "maxTurns: "),
    "no turns": Mistake(a_definition(maxTurns=0), "maxTurns: "),
    "turns in words": Mistake(a_definition(maxTurns="ten"), "maxTurns: "),
    "a timeout in seconds": Mistake(a_definition(timeout=60), "a timeout is in milliseconds"),
    "a timeout with a unit": Mistake(a_definition(timeout="60s"), "a timeout is in milliseconds"),
    "a negative cost": Mistake(a_definition(maxCostUsd=-1), "maxCostUsd: "),
    "an unknown backend": Mistake(a_definition(backend="gpt"), "backend: "),
    "tools as text": Mistake(a_definition(tools="Read"), "tools: should be a list"),
    "a schema that is none": Mistake(a_definition(outputSchema={"type": "txt"}), "outputSchema"),
    "a mistyped type": Mistake(
        a_definition(outputSchema={"properties": {"risk": {"type": "strnig"}}}),
        "not a JSON Schema: $.properties.risk.type: 'strnig' is not a type; known are array, "
        "boolean, integer, null, number, object, string; did you mean 'string'?",
    ),
    "a mistyped type in a list": Mistake(
        a_definition(outputSchema={"type": ["null", "strnig"]}), "did you mean 'string'?"
    ),
    "a type that is a number": Mistake(
        a_definition(outputSchema={"type": 3}), "$.type: 3 is not a type; known are array"
    ),
    "a schema as text": Mistake(a_definition(inputSchema="object"), "inputSchema: "),
    "too many attempts": Mistake(a_definition(retry={"maxAttempts": 99}), "retry.maxAttempts: "),
    "steps without a prompt": Mistake(a_definition(steps=[{"name": "a"}]), "steps[0]"),
    "definitions as a list": Mistake("definitions: []\n" + JOB + TASK, "should be an object"),
    "a file without definitions": Mistake(JOB + TASK, "definitions: is required", PUT),
    "a file with no definitions": Mistake("definitions: {}\n", "definitions: ", PUT),
    # what is certain to fail later
    "an input against its schema": Mistake(
        a_definition(inputSchema={"type": "object", "required": ["url"]}), "tasks[0].input: "
    ),
    "a list that the schema says is none": Mistake(
        "definitions: {scrape: {description: a, tag: b, outputSchema: {type: object}}}\n"
        + JOB
        + TASK
        + "  - {taskId: b, name: scrape, dependsOn: [scrape], "
        "forEach: '${tasks.scrape.output}'}\n",
        "5: tasks[1].forEach: ${tasks.scrape.output}: the output schema of 'scrape' makes it an "
        "object, and forEach needs a list",
    ),
    "a placeholder without a value": Mistake(
        a_definition(description="Read {{input.url}}."), "give the input 'url'"
    ),
    "a placeholder of no task": Mistake(
        a_definition(description="Read {{tasks.scrap.output}}."), "did you mean 'scrape'?"
    ),
    "tools without a backend for them": Mistake(
        a_definition(backend="messages", tools=["Read"]), "has no tools"
    ),
    "a mistyped tool": Mistake(a_definition(tools=["WebSerch"]), "did you mean 'WebSearch'?"),
    "a model of others": Mistake(a_definition(model="gpt-4"), "'gpt-4' is not a model of Claude"),
    # triggers
    "a job for a trigger": Mistake(JOB + TASK, "this is a job file: `switchyard submit ", APPLY),
    "no trigger": Mistake("triggers: []\n", "triggers: there are none", APPLY),
    "no schedule": Mistake(a_trigger(schedule=None), "triggers[0]", APPLY),
    "a strange schedule": Mistake(a_trigger(schedule="hourly"), "triggers[0].schedule: ", APPLY),
    "a wrong cron": Mistake(a_trigger(schedule="cron(* * *)"), "triggers[0].schedule: ", APPLY),
    "a mistyped schedule": Mistake(a_trigger(shedule="x"), "did you mean 'schedule'?", APPLY),
    "a trigger without a job": Mistake("triggers: [{name: a}]\n", "triggers[0].job: is req", APPLY),
    "a trigger for a job": Mistake(a_trigger(), "a trigger file: `switchyard triggers apply "),
    "a trigger to add": Mistake(a_trigger(), "a trigger file: `switchyard triggers apply ", ADD),
    "a mistyped placeholder": Mistake(
        a_trigger(job={"name": "{{shedule.time}}", "tasks": [{"taskId": "a", "name": "scrape"}]}),
        "triggers[0].job.name: {{shedule.time}} has no value: the trigger has event and schedule; "
        "did you mean 'schedule'?",
        APPLY,
    ),
    # additions
    "a name in an addition": Mistake("name: a\ntasks:\n" + TASK, "known are tasks", ADD),
    "nothing to add": Mistake("tasks: []\n", "tasks: ", ADD),
}
