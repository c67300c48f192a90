"""What the folder of a task is called."""

from pathlib import Path

from switchyard.domain.tasks.task import Lease
from switchyard_worker.parent.files.folder import TaskFolder
from tests.builders import JOB, a_task


def test_the_folder_of_an_item_has_no_brackets_for_a_shell_to_match(tmp_path: Path) -> None:
    task = a_task("pages[3][a-b]", fence=2)
    folder = TaskFolder.fresh(tmp_path, Lease(task, "worker"))
    folder.close()
    assert folder.path == tmp_path / f"{JOB.job_id}__pages.3.a-b" / "2"
