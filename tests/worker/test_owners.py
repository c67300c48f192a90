"""Under which name a worker holds its tasks."""

from tests.worker.yard import WorkerYard


def test_each_claim_has_a_name_of_its_own_and_people_see_the_worker(
    yard: WorkerYard,
) -> None:
    yard.add_task("a")
    yard.add_task("b")
    yard.work(until=yard.quiet)
    assert {yard.task("a").owner, yard.task("b").owner} == {"worker-1/1", "worker-1/2"}
    details = [event.detail() for event in yard.memory.bus.events]
    started = [detail for detail in details if detail["eventType"] == "Task Processing Started"]
    assert [detail["properties"]["workerId"] for detail in started] == ["worker-1"] * 2
