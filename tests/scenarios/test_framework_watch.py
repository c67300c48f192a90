"""Waiting for a queue: what SQS counts on AWS was true a while ago."""

from collections.abc import Mapping
from typing import cast

import pytest

from switchyard.testing import ManualClock
from switchyard_scenarios.harness.harness import Harness
from switchyard_scenarios.harness.place import LOCAL, Place
from switchyard_scenarios.harness.workers import Workers
from switchyard_scenarios.reporting.evidence import Evidence, Failed
from switchyard_scenarios.reporting.watch import LOOKS_ON_AWS, PATIENCE_SECONDS, Watch

LATE_LOOKS = 20


class Counting:
    """A harness whose queue has a message that it reports only after a while."""

    queue_url, dead_letters_url = "tasks", "dead"

    def __init__(self, stage: str, *, late: int, left: int = 0) -> None:
        self.place = Place(stage=stage, client=lambda _: None, environment={})
        self._counts = [0] * late + [1] * 5
        self._left = left

    def depth(self, url: str) -> Mapping[str, int]:
        waiting = 0
        if url == self.queue_url:
            waiting = self._counts.pop(0) if self._counts else self._left
        return {"waiting": waiting, "hidden": 0, "delayed": 0}

    def statuses(self) -> dict[str, object]:
        return {}

    completed = statuses


class NoWorkers:
    running = 0


def a_watch(harness: Counting) -> Watch:
    evidence = Evidence(ManualClock())
    return Watch(cast("Harness", harness), cast("Workers", NoWorkers()), evidence)


def test_on_aws_a_queue_is_empty_when_it_was_for_long() -> None:
    reported: list[int] = []
    watch = a_watch(Counting("dev", late=LATE_LOOKS))
    watch.until_drained(each=lambda seen: reported.append(seen.waiting))
    assert sum(reported) == 5
    assert reported[-LOOKS_ON_AWS:] == [0] * LOOKS_ON_AWS


def test_in_the_local_cloud_counts_are_exact_and_a_few_looks_are_enough() -> None:
    reported: list[int] = []
    a_watch(Counting(LOCAL, late=0)).until_drained(each=lambda seen: reported.append(seen.waiting))
    assert reported == [1] * 5 + [0] * 3


@pytest.mark.parametrize(("stage", "seconds"), [(LOCAL, 40), ("dev", 160)])
def test_who_waits_in_vain_is_told_for_how_long(stage: str, seconds: int) -> None:
    assert PATIENCE_SECONDS == 40
    with pytest.raises(Failed, match=f"not within {seconds} s: the queue is empty; 1 waiting"):
        a_watch(Counting(stage, late=0, left=1)).until_drained()
