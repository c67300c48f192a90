"""Under which name a worker holds its tasks."""

from tests.worker.harness import WorkerHarness


def test_each_claim_has_a_name_of_its_own_and_people_see_the_worker(
    harness: WorkerHarness,
) -> None:
    harness.add_task("a")
    harness.add_task("b")
    harness.work(until=harness.quiet)
    assert {harness.task("a").owner, harness.task("b").owner} == {"worker-1/1", "worker-1/2"}
    details = [event.detail() for event in harness.memory.bus.events]
    started = [detail for detail in details if detail["eventType"] == "Task Processing Started"]
    assert [detail["properties"]["workerId"] for detail in started] == ["worker-1"] * 2
