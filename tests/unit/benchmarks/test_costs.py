from collections import Counter

from benchmarks.costs import Cost, differences, growth, problems_in
from benchmarks.meter import Meter


def a_cost(tasks: int, *, calls: int, units: int = 1_000, writes: int = 7) -> Cost:
    meter = Meter(
        calls=Counter({"UpdateItem SET state READY": calls}),
        units=Counter({"UpdateItem SET state READY": units}),
        writes=Counter({("JOB#1", "TASK#hot"): writes, ("JOB#1", "TASK#cold"): 1}),
    )
    return Cost("lattice", tasks, meter)


def test_what_grows_with_the_number_of_tasks_is_no_problem() -> None:
    few, many = a_cost(100, calls=500), a_cost(1_000, calls=5_500, units=10_900)
    assert growth(few, many) == 11.0
    assert problems_in([few, many]) == []


def test_too_many_calls_or_write_units_are_reported() -> None:
    few = a_cost(1_000, calls=5_000)
    emitted = "lattice of 10,000 costs 12.00 times as much as lattice of 1,000, 11 times is allowed"
    assert problems_in([few, a_cost(10_000, calls=60_000)]) == [emitted]
    assert problems_in([few, a_cost(10_000, calls=50_000, units=12_000)]) == [emitted]


def test_only_the_two_largest_are_compared() -> None:
    costs = [a_cost(100, calls=1), a_cost(1_000, calls=5_000), a_cost(10_000, calls=50_000)]
    assert problems_in(costs) == []


def test_an_item_that_is_written_too_often_is_named() -> None:
    hot = a_cost(100, calls=500, writes=111)
    assert problems_in([hot, a_cost(1_000, calls=5_000, writes=110)]) == [
        "lattice of 100: TASK#hot is written 111 times, 110 are allowed"
    ]


def test_calls_are_compared_by_operation() -> None:
    sent = Cost("lattice", 100, Meter(calls=Counter({"UpdateItem": 8, "PutEvents": 1})))
    assert differences(a_cost(100, calls=9), sent) == [
        "lattice of 100: PutEvents counted 0 times, sent 1 times",
        "lattice of 100: UpdateItem counted 9 times, sent 8 times",
    ]
