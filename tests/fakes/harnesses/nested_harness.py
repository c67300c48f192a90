"""A job under way with a job as a task: the test plays the workers."""

from typing import Any

from switchyard.contracts.definitions import TaskDefinition
from switchyard.contracts.jobs import SubmitJob
from switchyard.domain.access.limits import WIDEST_CEILINGS
from switchyard.domain.ids import JobRef
from switchyard.usecases.definitions.put_definition import put_definition
from tests.builders import TENANT
from tests.fakes.harnesses.fan_out_harness import FanOutHarness

DRAFT: dict[str, Any] = {"taskId": "draft", "name": "scrape", "input": {"topic": "${input.topic}"}}
CHECK: dict[str, Any] = {
    "taskId": "check",
    "name": "scrape",
    "dependsOn": ["draft"],
    "input": "${tasks.draft.output.text}",
}
TEMPLATE: dict[str, Any] = {
    "kind": "job",
    "tasks": [DRAFT, CHECK],
    "output": {"text": "${tasks.draft.output.text}", "ok": "${tasks.check.output}"},
}


class NestedHarness(FanOutHarness):
    """`list` returns something, `part` is a job that is given it, `sum` follows."""

    def template(self, name: str = "part", **more: Any) -> None:
        definition = TaskDefinition.model_validate({**TEMPLATE, **more})
        put_definition(
            TENANT,
            name,
            definition,
            definitions=self.memory.definitions,
            ceilings=WIDEST_CEILINGS,
        )

    def nest(self, **more: Any) -> None:
        """Begin, and let the job task begin as well."""
        self.begin(**more)
        self.complete("list", {"topic": "trains", "items": ["a", "b"]})

    def begin(self, **more: Any) -> None:
        if "part" not in self.memory.definitions.latest(TENANT, ["part"]):
            self.template()
        part = {
            "taskId": "part",
            "kind": "job",
            "name": "part",
            "dependsOn": ["list"],
            "input": {"topic": "${tasks.list.output.topic}"},
            **more,
        }
        tasks = [
            {"taskId": "list", "name": "scrape"},
            part,
            {"taskId": "sum", "name": "scrape", "dependsOn": ["part"]},
        ]
        accepted = self.submit(SubmitJob.model_validate({"name": "job", "tasks": tasks}))
        self.job = JobRef(TENANT, accepted.job_id)
        self.wake("__start__")

    def run_part(self) -> None:
        """Complete everything up to the job task."""
        self.complete("list", {"topic": "trains"})
        self.complete("part[draft]", {"text": "of trains"})
        self.complete("part[check]", True)
