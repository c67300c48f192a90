"""What is wrong with a trigger file is told with its line, before anything is changed."""

from pathlib import Path

import pytest

from switchyard_cli.errors import InvalidFile
from switchyard_cli.files.trigger_file import read_triggers
from tests.unit.cli.conftest import Switchyard

HEAD = """\
triggers:
  - name: uploads
    on: {bus: default, pattern: {source: [aws.s3]}}
    job:
"""
JOB = HEAD + "      tasks: [{taskId: a, name: do}]\n"
SCHEDULED = """\
triggers:
  - name: nightly
    schedule: %s
    job: {tasks: [{taskId: a, name: do}]}
"""

BROKEN = {
    "no triggers": ("triggers: []\n", "1: triggers: there are none"),
    "neither on nor schedule": (
        "triggers:\n  - name: x\n    job: {tasks: []}\n",
        "2: triggers[0]: a trigger has either `on` or `schedule`",
    ),
    "both": (
        JOB.replace("    job:", "    schedule: rate(1 day)\n    job:"),
        "2: triggers[0]: a trigger has either `on` or `schedule`",
    ),
    "a bad name": (JOB.replace("uploads", "Uploads"), "2: triggers[0].name: must be 1 to 40 of"),
    "a bad tenant": (
        JOB.replace("    job:", "    tenant: A b\n    job:"),
        "4: triggers[0].tenant: must be 1 to 63 of",
    ),
    "a misspelt field": (
        JOB.replace("    job:", "    colour: red\n    job:"),
        "4: triggers[0].colour: is not a field that is known here",
    ),
    "another bus": (JOB.replace("default", "mine"), "3: triggers[0].on.bus: "),
    "a pattern that is no list": (
        JOB.replace("[aws.s3]", "aws.s3"),
        "3: triggers[0].on.pattern.source: must be a list of what matches",
    ),
    "too few fields": (
        SCHEDULED % "cron(0 9 * * *)",
        "3: triggers[0].schedule: cron(0 9 * * *): AWS wants six fields, not 5",
    ),
    "a field out of bounds": (
        SCHEDULED % "cron(0 25 * * ? *)",
        "3: triggers[0].schedule: hours: '25' must be 0 to 23",
    ),
    "no tasks": (HEAD + "      name: x\n", "4: triggers[0].job.tasks: is required"),
    "a cycle": (
        HEAD + "      tasks:\n        - {taskId: a, name: do, dependsOn: [a]}\n",
        "6: triggers[0].job.tasks[0].dependsOn: the dependencies form a cycle",
    ),
    "an unknown parent, named by the event": (
        HEAD + "      tasks:\n"
        "        - {taskId: 'a-{{event.id}}', name: do, dependsOn: ['b-{{event.id}}']}\n",
        "6: triggers[0].job.tasks[0].dependsOn: 'a-x1' depends on 'b-x1', which does not exist",
    ),
    "no placeholder": (
        HEAD + "      name: '{{event.a b}}'\n      tasks: [{taskId: a, name: do}]\n",
        "5: triggers[0].job.name: {{event.a b}} is no placeholder",
    ),
    "a schedule's placeholder": (
        HEAD + "      name: '{{schedule.time}}'\n      tasks: [{taskId: a, name: do}]\n",
        "5: triggers[0].job.name: {{schedule.time}} has no value here",
    ),
    "a reference to nobody": (
        HEAD + "      tasks:\n        - {taskId: a, name: do, input: '${tasks.b.output}'}\n",
        "6: triggers[0].job.tasks[0].input: ${tasks.b.output} names 'b', which does not exist",
    ),
    "a tag of ours": (
        HEAD + "      tags: {trigger: mine}\n      tasks: [{taskId: a, name: do}]\n",
        "5: triggers[0].job.tags.trigger: is a tag of ours",
    ),
    "tags of an event": (
        HEAD + "      tags: '{{event.tags}}'\n      tasks: [{taskId: a, name: do}]\n",
        "5: triggers[0].job.tags: has to be written out: no event may bring all of it",
    ),
    "tasks of an event": (
        HEAD + "      tasks: '{{event.tasks}}'\n",
        "5: triggers[0].job.tasks: has to be written out",
    ),
    "a task of an event": (
        HEAD + "      tasks: [{taskId: a, name: do}, '{{event.task}}']\n",
        "5: triggers[0].job.tasks[1]: has to be written out",
    ),
    "a pattern for no detail": (
        JOB.replace("source: [aws.s3]", "detail: [x]"),
        "3: triggers[0].on.pattern.detail: must be an object",
    ),
    "a chain of what is of no job": (
        JOB.replace("bus: default", "bus: default, chained: true"),
        "3: triggers[0].on: only events of the switchyard bus are of jobs",
    ),
    "steps of weekdays": (
        SCHEDULED % "cron(0 0 ? * MON-FRI/2 *)",
        "3: triggers[0].schedule: day-of-week: AWS takes no steps here, write MON,WED,FRI",
    ),
    "a name twice": (
        JOB + JOB.removeprefix("triggers:\n"),
        "2: triggers[0].name: 'uploads' is used twice",
    ),
}


@pytest.mark.parametrize(("text", "words"), BROKEN.values(), ids=BROKEN)
def test_every_problem_has_its_line(
    text: str, words: str, switchyard: Switchyard, tmp_path: Path
) -> None:
    file = tmp_path / "triggers.yaml"
    file.write_text(text)

    result = switchyard("triggers", "apply", file)

    assert f"{file}:{words}" in result.stderr
    assert "tuple" not in result.stderr
    assert result.exit_code == 2


def test_too_many_tags_leave_no_room_for_ours(tmp_path: Path) -> None:
    tags = ", ".join(f"t{n}: x" for n in range(19))
    file = tmp_path / "triggers.yaml"
    file.write_text(HEAD + f"      tags: {{{tags}}}\n      tasks: [{{taskId: a, name: do}}]\n")
    with pytest.raises(InvalidFile, match=r"job.tags: at most 18, as trigger and trigger-path"):
        read_triggers(file)


def test_a_trigger_has_to_fit_into_its_item(tmp_path: Path) -> None:
    file = tmp_path / "triggers.yaml"
    file.write_text(JOB.replace("name: do", f"name: do, input: {'x' * 200_000}"))
    with pytest.raises(InvalidFile, match=r":4: triggers\[0\].job: the trigger has 200,\d+ bytes"):
        read_triggers(file)


def test_what_only_the_event_knows_is_not_judged(tmp_path: Path) -> None:
    file = tmp_path / "triggers.yaml"
    file.write_text(
        HEAD
        + "      name: '{{event.detail.name}}'\n"
        + "      tags: {size: '{{event.detail.size}}'}\n"
        + "      tasks:\n"
        + "        - {taskId: 'a-{{event.id}}', name: '{{event.detail.what}}'}\n"
        + "        - {taskId: b, name: do, dependsOn: '{{event.detail.after}}'}\n"
    )
    (declared,) = read_triggers(file).content.triggers
    assert declared.trigger.job["name"] == "{{event.detail.name}}"


def test_what_two_placeholders_name_need_not_be_the_same(tmp_path: Path) -> None:
    file = tmp_path / "triggers.yaml"
    tasks = "[{taskId: 'a-{{event.x}}', name: do}, {taskId: 'a-{{event.y}}', name: do}]"
    file.write_text(HEAD + f"      tasks: {tasks}\n")
    read_triggers(file)
    file.write_text(HEAD + f"      tasks: {tasks.replace('event.y', ' event.x ')}\n")
    with pytest.raises(InvalidFile, match="is used 2 times"):
        read_triggers(file)
