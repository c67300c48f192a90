"""Thousands of items are one row."""

from switchyard.contracts.jobs import TaskSummary
from switchyard_cli.views.fan_outs import A_HANDFUL, collapsed


def a_summary(task_id: str, status: str = "completed", cost_usd: float = 0.5) -> TaskSummary:
    return TaskSummary(
        task_id=task_id, name="n", depends_on=(), status=status, attempt=1, cost_usd=cost_usd
    )


def test_a_handful_of_items_is_shown_one_by_one() -> None:
    tasks = [a_summary("t"), *(a_summary(f"t[{n}]") for n in range(A_HANDFUL))]
    assert collapsed(tasks) == tasks


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
