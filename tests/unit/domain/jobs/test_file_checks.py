"""What a submission refuses about the files that tasks ask for."""

import pytest

from switchyard.domain.jobs.file_checks import file_problems, references_elsewhere
from switchyard.domain.jobs.graph import TaskSpec
from switchyard.domain.prompts.references import reference_problems
from switchyard.domain.states import TaskKind
from switchyard.domain.tasks.holds import Hold


def spec(task_id: str, *after: str, files: tuple[str, ...] = ()) -> TaskSpec:
    return TaskSpec(task_id=task_id, name="do", depends_on=after, files=files)


def test_a_file_that_the_job_has_is_no_problem() -> None:
    specs = [spec("a", files=("job/brief", "job/*.csv"))]
    assert file_problems(specs, ["brief.pdf", "prices.csv"]) == []


def test_a_mistyped_file_is_named_with_its_place_and_the_nearest_name() -> None:
    (problem,) = file_problems([spec("a", files=("job/breif.pdf",))], ["brief.pdf"])
    assert problem.path == ("tasks", 0, "files", 0)
    assert problem.message == ("job/breif.pdf names no file of the job; did you mean 'brief.pdf'?")


def test_a_job_without_files_says_how_one_is_submitted() -> None:
    specs = [spec("a", files=("job/brief",))]
    (problem,) = file_problems(specs, [], advice="submit it with --file {}=PATH")
    assert problem.message.endswith("which has none; submit it with --file brief=PATH")
    assert file_problems(specs, [])[0].message.endswith("which has none")


def test_at_most_ten_files_are_listed_in_a_problem() -> None:
    names = [f"file-{number:02}" for number in range(30)]
    (problem,) = file_problems([spec("a", files=("job/zzz",))], names)
    assert problem.message.endswith("; it has " + ", ".join(names[:10]) + ", …")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("nobody", "which does not exist"),
        ("beside", "on which 'last' does not depend"),
        ("last", "on which 'last' does not depend"),
    ],
)
def test_artifacts_are_asked_for_only_of_tasks_before(source: str, said: str) -> None:
    specs = [
        spec("first"),
        spec("middle", "first"),
        spec("beside"),
        spec("last", "middle", files=("first/*.md", f"{source}/*.md")),
    ]
    (problem,) = reference_problems(specs, elsewhere=references_elsewhere(specs))
    assert problem.path == ("tasks", 3, "files", 1)
    assert said in problem.message


def test_a_task_that_no_worker_runs_has_no_files() -> None:
    approval = TaskSpec(task_id="release", name="", hold=Hold(kind=TaskKind.APPROVAL, for_ms=1_000))
    (problem,) = file_problems([approval, spec("a", "release", files=("release/*",))], [])
    assert "kind approval" in problem.message
    assert problem.path == ("tasks", 1, "files", 0)
