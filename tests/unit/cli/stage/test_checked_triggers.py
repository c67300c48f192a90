"""`triggers apply` checks the whole file before it registers or changes anything."""

from pathlib import Path

import pytest

from switchyard.domain.errors import Unavailable
from tests.builders import a_definition
from tests.unit.cli.conftest import Switchyard
from tests.unit.cli.fakes.api import FakeCloud
from tests.unit.cli.fakes.triggers import FakeTriggers

EXAMPLE = Path(__file__).parents[4] / "examples" / "triggers.yaml"


def test_a_trigger_whose_definition_nobody_registered_is_refused_with_its_line(
    triggers: FakeTriggers, switchyard: Switchyard, tmp_path: Path
) -> None:
    file = tmp_path / "triggers.yaml"
    file.write_text(
        "triggers:\n"
        "  - name: nightly\n"
        "    schedule: rate(1 day)\n"
        "    job: {tasks: [{taskId: a, name: nobody}]}\n"
    )
    result = switchyard("triggers", "apply", file)
    assert result.exit_code == 2
    place = f"{file}:4: triggers[0].job.tasks[0].name"
    assert result.stderr == (
        f"{place}: 'nobody' is not a registered task definition; define it in this file below "
        "`definitions`, or register it with `switchyard definitions put`\n"
    )
    assert triggers.rules.rules == {}


MISNAMED = """\
definitions:
  write-digest: {tag: editor, description: Write a digest.}
triggers:
  - name: morning
    schedule: rate(1 day)
    job:
      tasks:
        - taskId: digest
          name: write-digset
  - name: evening
    schedule: rate(1 day)
    job:
      tasks:
        - {taskId: first, name: write-digest}
        - taskId: second
          name: read-uplod
"""


@pytest.mark.parametrize("options", [[], ["--dry-run"]], ids=["apply", "dry run"])
def test_every_unknown_definition_is_reported_before_anything_is_registered(
    options: list[str], triggers: FakeTriggers, switchyard: Switchyard, tmp_path: Path
) -> None:
    triggers.definitions.put("local", "read-upload", a_definition())
    file = tmp_path / "triggers.yaml"
    file.write_text(MISNAMED)

    result = switchyard("triggers", "apply", file, *options)

    unknown = "is not a registered task definition; did you mean"
    assert result.stderr.splitlines() == [
        f"{file}:9: triggers[0].job.tasks[0].name: 'write-digset' {unknown} 'write-digest'?",
        f"{file}:16: triggers[1].job.tasks[1].name: 'read-uplod' {unknown} 'read-upload'?",
    ]
    assert result.exit_code == 2
    assert triggers.definitions.latest("local", ["write-digest"]) == {}
    assert triggers.store.all("local") == []


def test_a_wrong_second_definition_leaves_the_first_unregistered(
    triggers: FakeTriggers, switchyard: Switchyard, tmp_path: Path
) -> None:
    file = tmp_path / "triggers.yaml"
    schema = f"{{title: {'x' * 50_000}}}"
    fields = f"{{tag: a, description: {'x' * 15_000}, outputSchema: {schema}}}"
    large = f"  z-large: {fields}\ntriggers:"
    file.write_text(MISNAMED.replace("digset", "digest").replace("triggers:", large))

    result = switchyard("triggers", "apply", file)

    assert "definitions.z-large: the definition is 65," in result.stderr
    assert "is registered" not in result.stderr
    assert triggers.definitions.latest("local", ["write-digest"]) == {}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], "The local cloud is not running"),
        (["--stage", "dev"], "Name the tenant with --tenant"),
        (["--stage", "dev", "--tenant", "acme"], "The triggers of the stage dev are out of reach"),
    ],
)
def test_a_dry_run_without_its_stage_says_what_it_did_not_check(
    options: list[str],
    reason: str,
    triggers: FakeTriggers,
    switchyard: Switchyard,
    cloud: FakeCloud,
    tmp_path: Path,
) -> None:
    cloud.running = False
    triggers.outage = Unavailable("You must specify a region.")
    file = tmp_path / "triggers.yaml"
    file.write_text(MISNAMED)

    result = switchyard("triggers", "apply", file, "--dry-run", *options)

    assert f"Registered definitions and channels are not checked: {reason}" in result.stderr
    assert f"{file} is valid, with 2 triggers; nothing was changed." in result.stderr
    assert result.exit_code == 0


def test_a_dry_run_finds_a_schedule_that_is_over(
    triggers: FakeTriggers, switchyard: Switchyard, tmp_path: Path
) -> None:
    file = tmp_path / "triggers.yaml"
    file.write_text(EXAMPLE.read_text().replace("MON-FRI *", "MON-FRI 2020"))

    result = switchyard("triggers", "apply", file, "--dry-run")

    assert "triggers[1].schedule: cron(0 7 ? * MON-FRI 2020) never fires from now on" in (
        result.stderr
    )
    assert triggers.asked == []
