"""A list that a task returns becomes tasks of real workers, and their outputs one list."""

from tests.e2e.conftest import RunningCloud
from tests.e2e.patience import eventually

LISTS = 'echo \'{"files": ["a", "bad", "c"]}\' > artifacts/result.json'
CHECKS = "grep -q bad input.json && exit 1; cp input.json artifacts/result.json"


def test_items_run_fail_within_what_is_tolerated_and_are_redriven_alone(
    cloud: RunningCloud,
) -> None:
    with cloud.http as http:
        for name, command in (("lists", LISTS), ("checks", CHECKS)):
            document = {
                "kind": "code",
                "command": ["sh", "-c", command],
                "retry": {"maxAttempts": 1},
            }
            answer = http.put(f"/task-definitions/{name}", json=document)
            assert answer.is_success, answer.text
    job_id = cloud.submit(
        {
            "name": "fan-out",
            "tasks": [
                {"taskId": "list", "name": "lists"},
                {
                    "taskId": "check",
                    "name": "checks",
                    "dependsOn": ["list"],
                    "forEach": "${tasks.list.output.files}",
                    "key": "${item}",
                    "tolerate": 1,
                    "input": {"file": "${item}"},
                },
            ],
        }
    )

    assert cloud.settled(job_id).status == "completed"
    assert cloud.task(job_id, "check[bad]").status == "failed"
    assert cloud.task(job_id, "check").output == [{"file": "a"}, None, {"file": "c"}]
    eventually(lambda: redriven(cloud, job_id), "the redrive is not accepted")
    assert cloud.settled(job_id).status == "completed"
    assert cloud.task(job_id, "check").output == [{"file": "a"}, {"file": "good"}, {"file": "c"}]
    assert cloud.task(job_id, "check[a]").run == 1


def redriven(cloud: RunningCloud, job_id: str) -> bool | None:
    again = {"tasks": ["check[bad]"], "input": {"file": "good"}}
    with cloud.http as http:
        return http.post(f"/jobs/{job_id}/redrive", json=again).is_success or None


def test_a_job_that_is_a_task_makes_the_tasks_of_its_template(cloud: RunningCloud) -> None:
    copies = {"kind": "code", "command": ["cp", "input.json", "artifacts/result.json"]}
    template = {
        "kind": "job",
        "tasks": [
            {"taskId": "draft", "name": "copies", "input": {"about": "${input.topic}"}},
            {
                "taskId": "polish",
                "name": "copies",
                "dependsOn": ["draft"],
                "input": {"text": "${tasks.draft.output.about}"},
            },
        ],
        "output": {"paper": "${tasks.polish.output.text}"},
    }
    with cloud.http as http:
        for name, document in (("copies", copies), ("one-paper", template)):
            answer = http.put(f"/task-definitions/{name}", json=document)
            assert answer.is_success, answer.text
    part = {"taskId": "part", "kind": "job", "name": "one-paper", "input": {"topic": "trains"}}
    job_id = cloud.submit({"name": "nested", "tasks": [part]})

    assert cloud.settled(job_id).status == "completed"
    assert cloud.task(job_id, "part").output == {"paper": "trains"}
    assert cloud.task(job_id, "part[polish]").depends_on == ("part[draft]",)
