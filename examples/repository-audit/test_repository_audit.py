"""The job runs in this process: agents are scripted, code and files are real."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from switchyard.testing import fails
from switchyard.testing.job_runs.run import RunJob

JOB = Path(__file__).parent / "job.yaml"


def review(given: dict[str, Any]) -> dict[str, Any]:
    """Find what a reviewer would find in the sample."""
    found = []
    for number, line in enumerate(given["text"].splitlines(), start=1):
        if "SELECT" in line:
            found.append({"line": number, "severity": "high", "what": "SQL\nof a visitor"})
        if "except Exception" in line:
            found.append({"line": number, "severity": "low", "what": "ignored"})
    return {"summary": given["path"], "findings": found}


def archive(**files: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    return content.getvalue()


def test_each_source_is_reviewed_and_the_report_has_the_findings(run_job: RunJob) -> None:
    result = run_job(JOB, agents={"review-file": review})

    assert result.errors == {}
    assert result.outputs["report"] == {
        "reviewed": 5,
        "findings": {"high": 1, "medium": 0, "low": 1},
        "not_reviewed": [],
    }
    page = result["report"].files["report.md"].decode()
    assert "- `shop/shop/orders.py:8` SQL of a visitor" in page
    assert "logo.png" not in page


def test_a_file_whose_agent_fails_is_named_in_the_report(run_job: RunJob) -> None:
    files = {f"f{number}.py": "x" for number in range(10)}

    def one_fails(given: dict[str, Any]) -> Any:
        return fails("refused", "validation") if given["path"] == "f3.py" else review(given)

    result = run_job(
        JOB, files={"repository.zip": archive(**files)}, agents={"review-file": one_fails}
    )

    assert result.outputs["report"]["not_reviewed"] == ["f3.py"]


def test_what_an_archive_says_of_its_sizes_is_not_believed(run_job: RunJob) -> None:
    packed = archive(**{"bomb.py": "x" * 5_000_000, "a.py": "y", "../../up.py": "z"})

    result = run_job(JOB, files={"repository.zip": packed}, agents={"review-file": review})

    assert result.outputs["list"]["skipped"] == ["bomb.py"]
    assert result.outputs["report"]["reviewed"] == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"no archive", "no ZIP archive"), (archive(**{"a.bin": "x"}), "has no sources")],
)
def test_an_archive_without_sources_ends_the_job_before_an_agent_is_paid(
    run_job: RunJob, content: bytes, said: str
) -> None:
    result = run_job(JOB, files={"repository.zip": content}, agents={"review-file": review})

    assert said in result.errors["list"]
    assert result.started == ("list",)
