"""A job within a job runs in one process, with agents and decisions by its tasks' ids."""

from pathlib import Path

import yaml

from switchyard.testing import approve, run_job

PAPERS = {
    "name": "papers",
    "definitions": {
        "one-paper": {
            "kind": "job",
            "tasks": [
                {"taskId": "draft", "name": "write", "input": {"topic": "${input.topic}"}},
                {"taskId": "gate", "kind": "approval", "dependsOn": ["draft"]},
                {
                    "taskId": "polish",
                    "name": "write",
                    "dependsOn": ["draft", "gate"],
                    "when": "${tasks.gate.output.approved}",
                    "input": {"topic": "${tasks.draft.output}"},
                },
            ],
            "output": {"paper": "${tasks.polish.output}"},
        },
        "write": {"tag": "editor", "description": "Write about {{input.topic}}."},
    },
    "tasks": [
        {"taskId": "trains", "kind": "job", "name": "one-paper", "input": {"topic": "trains"}},
        {
            "taskId": "print",
            "name": "write",
            "dependsOn": ["trains"],
            "input": {"topic": "${tasks.trains.output.paper}"},
        },
    ],
}


def test_a_template_may_stand_before_what_it_names(tmp_path: Path) -> None:
    file = tmp_path / "papers.yaml"
    file.write_text(yaml.safe_dump(PAPERS, sort_keys=False))

    result = run_job(
        file,
        agents={"write": lambda given: f"about {given['topic']}"},
        decisions={"trains[gate]": approve()},
    )

    assert result.status == "completed"
    assert result.started == ("trains[draft]", "trains[polish]", "print")
    assert result.outputs["trains"] == {"paper": "about about trains"}
    assert result.outputs["print"] == "about about about trains"
