import pytest

from stacks.constructs.worker_scaling import capacity_steps
from tests.stacks.synthesized import SynthesizedYard


def workers_for(backlog: int, *, max_workers: int, tasks_per_worker: int) -> float:
    """What the last step that begins below the backlog asks for."""
    steps = capacity_steps(max_workers, tasks_per_worker=tasks_per_worker)
    return [step.change for step in steps if (step.lower or 0) <= backlog][-1]


@pytest.mark.parametrize(
    ("backlog", "workers"),
    [(0, 0), (1, 1), (3, 1), (4, 2), (6, 2), (7, 4), (12, 4), (13, 8), (1000, 20)],
)
def test_workers_double_when_the_backlog_exceeds_their_slots(backlog: int, workers: int) -> None:
    assert workers_for(backlog, max_workers=20, tasks_per_worker=3) == workers


def test_a_single_worker_serves_any_backlog_where_more_are_not_allowed() -> None:
    assert workers_for(1000, max_workers=1, tasks_per_worker=3) == 1


def test_workers_come_and_go_between_none_and_the_stages_limit(yard: SynthesizedYard) -> None:
    limits = [
        (target["MinCapacity"], target["MaxCapacity"])
        for target in yard.all("AWS::ApplicationAutoScaling::ScalableTarget")
    ]
    assert limits == ([(0, yard.stage.max_workers)] if yard.stage.scales_workers else [])


def test_tasks_in_flight_count_as_backlog(yard: SynthesizedYard) -> None:
    scaling = [alarm for alarm in yard.all("AWS::CloudWatch::Alarm") if "Metrics" in alarm]
    assert bool(scaling) == yard.stage.scales_workers
    for alarm in scaling:
        assert alarm["Metrics"][0]["Expression"] == "FILL(waiting, 0) + FILL(running, 0)"
        measured = {m["MetricStat"]["Metric"]["MetricName"] for m in alarm["Metrics"][1:]}
        assert measured == {
            "ApproximateNumberOfMessagesVisible",
            "ApproximateNumberOfMessagesNotVisible",
        }
