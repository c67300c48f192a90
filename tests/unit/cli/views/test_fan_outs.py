"""Thousands of items are one row."""

from switchyard.contracts.jobs import TaskSummary
from switchyard_cli.views.fan_outs import A_HANDFUL, collapsed
from switchyard_cli.views.job_table import in_running_order


def a_summary(task_id: str, status: str = "completed", cost_usd: float = 0.5) -> TaskSummary:
    return TaskSummary(
        task_id=task_id, name="n", depends_on=(), status=status, attempt=1, cost_usd=cost_usd
    )


def test_a_handful_of_items_is_shown_one_by_one_and_counted_by_the_fan_out() -> None:
    items = [a_summary(f"t[{n}]", "failed" if n == 1 else "completed") for n in range(A_HANDFUL)]
    fan_out, *shown = collapsed([a_summary("t"), *items])
    assert shown == items
    assert fan_out.activity == "items:4 of 5 completed, 1 failed"


def test_items_stand_below_their_fan_out_and_before_what_follows_it() -> None:
    after = a_summary("after").model_copy(update={"depends_on": ("t",)})
    tasks = [a_summary("t[0]"), after, a_summary("other"), a_summary("t"), a_summary("t[1]")]
    assert [(level, task.task_id) for level, task in in_running_order(tasks)] == [
        (0, "other"),
        (0, "t"),
        (1, "t[0]"),
        (1, "t[1]"),
        (1, "after"),
    ]


def test_items_without_their_fan_out_are_tasks_like_others() -> None:
    assert in_running_order([a_summary("t[0]")]) == [(0, a_summary("t[0]"))]


def test_many_items_are_one_row_with_their_counts() -> None:
    items = [a_summary(f"t[{n}]", "failed" if n < 2 else "completed") for n in range(10_000)]
    others = [a_summary("a"), a_summary("t", "waiting")]
    rows = collapsed([*others, *items])
    assert [row.task_id for row in rows] == ["a", "t", "t[…]"]
    assert rows[-1].activity == "items:9,998 of 10,000 completed, 2 failed"
    assert (rows[-1].status, rows[-1].cost_usd) == ("completed", 5_000)


def test_a_row_of_items_runs_until_all_have_settled() -> None:
    items = [a_summary(f"t[{n}]", "processing" if n == 7 else "completed") for n in range(8)]
    assert collapsed([a_summary("t"), *items])[-1].status == "processing"
