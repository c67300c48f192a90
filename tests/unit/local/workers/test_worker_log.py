"""What a task prints, found in the worker's log while that is written."""

import json
from pathlib import Path

from switchyard_local.workers.log import WorkerLogFile, WorkerLogFiles

TASK = "job-1__scrape"


def a_line(text: str, request_id: str = TASK) -> str:
    return json.dumps({"level": "INFO", "message": f"[WORKFLOW:{request_id}] {text}"}) + "\n"


def test_only_what_this_task_printed_is_told_and_once(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_text(a_line("one") + a_line("other", "job-1__scrape2") + a_line("two: ü"))
    output = WorkerLogFile(log, TASK)

    assert output.news() == ["one", "two: ü"]
    assert output.news() == []


def test_a_line_that_is_still_written_is_told_when_it_is_whole(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    whole = a_line("one")
    log.write_text(whole[:20])
    output = WorkerLogFile(log, TASK)

    assert output.news() == []
    log.write_text(whole)
    assert output.news() == ["one"]


def test_a_new_worker_begins_a_new_log(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_text(a_line("a first line that is rather long"))
    output = WorkerLogFile(log, TASK)
    output.news()

    log.write_text(a_line("new"))

    assert output.news() == ["new"]


def test_what_merely_mentions_the_task_is_not_what_it_printed(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_text(
        f"[WORKFLOW:{TASK}] not JSON\n"
        + json.dumps({"message": f"about [WORKFLOW:{TASK}] x"})
        + "\n"
        + json.dumps({"message": {"nested": f"[WORKFLOW:{TASK}] x"}})
        + "\n"
        + json.dumps([f"[WORKFLOW:{TASK}] x"])
        + "\n"
    )

    assert WorkerLogFile(log, TASK).news() == []


def test_a_worker_that_never_ran_has_no_log(tmp_path: Path) -> None:
    assert WorkerLogFile(tmp_path / "none.log", TASK).news() == []


def test_the_task_may_be_with_any_worker_also_one_that_comes_later(tmp_path: Path) -> None:
    output = WorkerLogFiles(tmp_path / "worker.log", TASK)
    (tmp_path / "worker.log").write_text(a_line("first"))
    assert output.news() == ["first"]

    (tmp_path / "worker-2.log").write_text(a_line("second"))
    (tmp_path / "cdk.log").write_text(a_line("third"))

    assert output.news() == ["second"]
