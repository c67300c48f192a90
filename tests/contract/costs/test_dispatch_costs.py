"""What `make bench-dispatch` counts is what AWS is asked, and a slice of what it looks at."""

import pytest

from benchmarks.costs import differences, measured, measured_on, problems_in
from tests.contract.clouds import Cloud


@pytest.mark.slow
def test_the_calls_that_are_counted_are_those_that_botocore_sends(ministack: Cloud) -> None:
    counted, sent = measured("random", 30), measured_on(ministack, "random", 30)
    assert counted.calls > 30
    assert differences(counted, sent) == []


@pytest.mark.slow
def test_a_job_with_ten_times_the_tasks_costs_about_ten_times_as_much() -> None:
    assert problems_in([measured("fan-in", 50), measured("fan-in", 500)]) == []
