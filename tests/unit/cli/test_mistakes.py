"""A hundred mistakes that people make: one answer that names field and fix, and no traceback."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from switchyard.contracts.definitions import DefinitionList
from switchyard.domain.errors import Unavailable
from switchyard_local.errors import CloudError
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import JOB_ID, FakeApi, FakeCloud, answer
from tests.unit.cli.fakes.keys import FakeKeys
from tests.unit.cli.mistaken_files import FILES, JOB, TASK, Mistake

NODES: Final = 2_000
"""The nodes of a document, where reading the real maximum would take long."""


@pytest.mark.parametrize("mistake", FILES.values(), ids=FILES)
def test_a_mistake_in_a_file(
    mistake: Mistake, switchyard: Switchyard, api: FakeApi, tmp_path: Path
) -> None:
    api.on("GET /task-definitions", answer(DefinitionList(definitions=())))
    file = tmp_path / f"job{mistake.suffix}"
    content = mistake.content
    file.write_bytes(content if isinstance(content, bytes) else content.encode())

    result = switchyard(*(str(file) if part == "FILE" else part for part in mistake.command))

    assert_answered(result, 2, mistake.answer)
    assert str(file) in result.stderr
    assert len(result.stderr) < 3_000


Arguments = tuple[str, ...]

USES: Final[dict[str, tuple[Arguments, int, str]]] = {
    "a mistyped command": (("sumbit", "a.yaml"), 2, "Did you mean 'submit'"),
    "a mistyped subcommand": (("keys", "isue", "acme"), 2, "Did you mean 'issue'"),
    "a mistyped option": (("jobs", "--sttus", "failed"), 2, "--status"),
    "an unknown stage": (("jobs", "--stage", "qa"), 2, "'qa' is not one of"),
    "an unknown status": (("jobs", "--status", "done"), 2, "'done' is not one of"),
    "a status of tasks": (("jobs", "--status", "held"), 2, "`switchyard approvals` lists"),
    "a limit of zero": (("jobs", "--limit", "0"), 2, "--limit"),
    "a limit in words": (("jobs", "--limit", "many"), 2, "--limit"),
    "no file": (("submit",), 2, "Missing argument 'file'"),
    "a file that is not there": (("submit", "no-such-file.yaml"), 2, "There is no file"),
    "a folder": (("submit", ".."), 2, "cannot be read: Is a directory"),
    "no job id": (("watch",), 2, "Missing argument 'job'"),
    "no id at all": (("watch", "brand"), 2, "is not a job id; `switchyard jobs` lists them"),
    "a half id": (("job", "job-123"), 2, "is not a job id"),
    "an id with a control character": (("job", "job-\x1b[31m"), 2, "is not a job id"),
    "a job for a task": (("task", JOB_ID), 2, "Which task of"),
    "a task id with a slash": (("task", JOB_ID, "a/b"), 2, "is not a task id"),
    "an input without a task": (("redrive", JOB_ID, "--input", "."), 2, "cannot be read"),
    "a timeout in seconds": (("redrive", JOB_ID, "--timeout", "5"), 2, "--timeout"),
    "too many turns": (("redrive", JOB_ID, "--max-turns", "900"), 2, "--max-turns"),
    "no key for a stage": (("jobs", "--stage", "dev"), 2, "set SWITCHYARD_API_KEY"),
    "a key with a blank": (("submit", "job.yaml", "--key", "a b"), 2, "--key"),
    "following until": (("events", JOB_ID, "-f", "--until", "1h"), 2, "leave --until out"),
    "an app with an id": (("events", JOB_ID, "--app", "a"), 2, "--app"),
    "no event to invoke with": (("invoke", "api", "none.json"), 2, "There is no file"),
    "an unknown kind of schema": (("schema", "jobs"), 2, "'jobs' is not one of"),
    "fewer than the least workers": (("supervise", "--min", "3", "--max", "2"), 2, "at least 3"),
    "a tenant with a blank": (("triggers", "list", "--tenant", "a b"), 2, "cannot name a tenant"),
    "nothing to set": (("tenants", "set", "acme"), 2, "Nothing was given to set"),
    "no reason to redrive": (("dlq", "redrive"), 2, "--cause"),
    "no tenant to erase": (("tenants", "erase"), 2, "Missing argument 'TENANT'"),
    "a key of a strange tenant": (("keys", "issue", "a/b"), 2, "cannot name a tenant"),
    "a task of no job": (("logs", "job-123__a"), 2, "is not of the form job-…__taskId"),
    "a folder of triggers": (("triggers", "apply", "."), 2, "cannot be read: Is a directory"),
    "a folder of definitions": (("definitions", "put", "."), 2, "cannot be read"),
    "standard input": (("submit", "-"), 2, "standard input is not read: name a file"),
    "a file as a folder": (("artifacts", JOB_ID, "a", "--to", "job.yaml"), 2, "'--to'"),
    "a job file for an unknown job": (("add", "job-1", "job.yaml"), 2, "is not a job id"),
    "an option without its value": (("events", "--type"), 2, "'--type' requires an argument"),
    "one argument too many": (("jobs", "all"), 2, "extra argument"),
    "an option of others": (("health", "--limit", "3"), 2, "No such option: --limit"),
    "a plural option": (("tenants", "set", "a", "--channels", "b"), 2, "--channel"),
    "a redrive of no input": (("redrive", JOB_ID, "--input", "no.json"), 2, "There is no file"),
    "an unknown example": (("examples", "--copy", "brand"), 2, "there are brand-analysis"),
    "no kind of schema": (("schema",), 2, "Missing argument 'kind'"),
    "a negative worker": (("supervise", "--min", "-1"), 2, "'--min'"),
    "a long reason": (("pause", "--reason", "a" * 5_000), 2, "at most"),
}


@pytest.mark.parametrize(("arguments", "code", "answer"), USES.values(), ids=USES)
def test_a_mistake_on_the_command_line(
    switchyard: Switchyard,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: Arguments,
    code: int,
    answer: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").write_text(JOB + TASK)

    assert_answered(switchyard(*arguments), code, answer)


def test_no_cloud(switchyard: Switchyard, cloud: FakeCloud) -> None:
    cloud.running = False

    assert_answered(switchyard("jobs"), 3, "start it with `switchyard up`")


def test_a_taken_port(
    switchyard: Switchyard, cloud: FakeCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise CloudError("Port 4566 is taken by another program; stop that, or set another port.")

    monkeypatch.setattr(cloud, "up", refuse)

    assert_answered(switchyard("up"), 3, "Port 4566 is taken")


def test_no_credentials(switchyard: Switchyard, keys: FakeKeys) -> None:
    keys.outage = Unavailable("Unable to locate credentials")

    result = switchyard("keys", "list", "acme", "--stage", "dev")

    assert_answered(result, 3, "do your AWS credentials and region belong to it?")


def test_a_file_that_may_not_be_read(
    switchyard: Switchyard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", refuse)

    assert_answered(switchyard("submit", tmp_path / "a"), 2, "cannot be read: Permission denied")


def test_a_huge_file(
    switchyard: Switchyard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("switchyard_cli.files.yaml_source.MAX_NODES", NODES)
    file = tmp_path / "huge.yaml"
    file.write_text("name: [" + "a, " * NODES + "]\n")

    assert_answered(switchyard("submit", file, "--dry-run"), 2, "far too large")


LAYERS: Final = """
nmae: a
definitions:
  read: {tag: a, description: "Read {{input.url}}.", tools: [Raed], model: gpt-4, retries: 3}
  talk: {tag: a, description: Talk., backend: messages, tools: [Read], timeout: 60}
  list: {tag: a, description: List., inputSchema: {type: object, required: [n]}}
tasks:
  - {taskId: a, name: read, dependsOn: [gone], retries: 3}
  - {taskId: b, name: list, input: {m: 1}}
"""


def test_every_layer_of_problems_is_in_one_answer(switchyard: Switchyard, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(LAYERS)

    result = switchyard("submit", file, "--dry-run")

    for named in (
        *("'name'", "tasks[0].retries", "definitions.read.retries", "'gone'", "'Read'?"),
        *("gpt-4", "has no tools", "talk.timeout", "give the input 'url'", "'n' is a required"),
    ):
        assert_answered(result, 2, named)


def test_a_task_that_cannot_be_read_hides_no_other_problem(
    switchyard: Switchyard, tmp_path: Path
) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(LAYERS + "  - {taskId: c, name: talk, input: {}, dependsOn: b}\n  - 7\n")

    result = switchyard("submit", file, "--dry-run")

    for named in ("tasks[2].dependsOn", "tasks[3]", "gpt-4", "'n' is a required"):
        assert_answered(result, 2, named)


@pytest.mark.parametrize(
    "command", [("add", JOB_ID, "FILE"), ("triggers", "apply", "FILE")], ids=["add", "triggers"]
)
def test_definitions_are_checked_before_they_are_sent(
    command: Arguments, switchyard: Switchyard, tmp_path: Path
) -> None:
    file = tmp_path / "more.json"
    job = {"tasks": [{"taskId": "a", "name": "read"}]}
    content = (
        job
        if command[0] == "add"
        else {"triggers": [{"name": "t", "schedule": "rate(1 hour)", "job": {"name": "a", **job}}]}
    )
    definition = {"tag": "a", "description": "Read.", "tools": ["Raed"]}
    file.write_text(json.dumps({**content, "definitions": {"read": definition}}))

    result = switchyard(*(file if part == "FILE" else part for part in command), "--dry-run")

    assert_answered(result, 2, "definitions.read.tools[0]: 'Raed' is not a tool; did you mean")


WORDS_OF_LIBRARIES: Final = ("Traceback", "Value error", "unable to parse", "\x1b")


def assert_answered(result: Any, code: int, answer: str) -> None:
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert [words for words in WORDS_OF_LIBRARIES if words in result.stderr] == []
    assert answer in result.stderr
    assert result.exit_code == code


def test_there_are_at_least_a_hundred() -> None:
    assert len(FILES) + len(USES) >= 100
