"""Every example runs to its end in one process, with answers that its definitions allow."""

from pathlib import Path
from typing import Any, Final

import pytest

from switchyard.client.job import Job
from switchyard.testing import JobResult, fails, run_job
from switchyard_cli.files.job_file import read_addition, read_job

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
REVIEW: Final = {"approved": True, "findings": []}
AGENTS: Final[dict[str, dict[str, Any]]] = {
    "brand-analysis": {
        "scrape-store": {"title": "Candles", "summary": "Soy.", "colors": [], "fonts": ["Inter"]},
        "analyze-competitors": {"competitors": []},
        "color-tags": {"tags": [], "readable": True},
        "font-pairing": {"heading": "Inter", "body": "Inter", "reason": "Calm."},
        "compile-result": {"headline": "H", "palette": [], "typefaces": [], "advice": []},
    },
    "proofreading": {"proofread": {"text": "Right.", "corrections": []}},
    "pull-request-review": {
        "summarize-diff": {"summary": "S", "files": [], "risks": [], "changedLines": []},
        "review": REVIEW,
        "decide": {"decision": "approve", "comment": "Fine.", "mustFix": []},
    },
    "research-report": {
        "outline-report": {"sections": []},
        "find-sources": {"sources": []},
        "summarize-interviews": {"voices": []},
        "compute-figures": {"yearlySavingEur": 740, "paybackYears": 11},
        "write-draft": {"text": "Draft.", "claims": []},
        "check-facts": {"verdicts": []},
        "finish-report": {"title": "T", "abstract": "A", "text": "Final."},
    },
}


def ran(name: str, **agents: Any) -> JobResult:
    return run_job(EXAMPLES / f"{name}.yaml", agents=AGENTS[name] | agents)


@pytest.mark.parametrize("name", AGENTS)
def test_an_example_completes(name: str) -> None:
    result = ran(name)

    assert result.errors == {}
    assert set(result.statuses.values()) == {"completed"}


def test_no_example_is_forgotten() -> None:
    jobs = {file.stem for file in EXAMPLES.glob("*.yaml") if "\nname:" in file.read_text()}
    assert jobs == {*AGENTS}


def test_the_colours_of_a_brand_are_the_inputs_of_nothing_before_the_page_is_read() -> None:
    started = ran("brand-analysis").started
    assert started.index("scrape-store") < started.index("color-tags")
    assert started[-1] == "compile-result"


def test_a_reviewer_that_fails_does_not_hold_up_the_verdict() -> None:
    result = ran("pull-request-review", security=fails("no answer", "auth"))

    assert result["security"].status == "failed"
    assert result["verdict"].status == "completed"
    assert result.status == "failed"


def test_a_report_is_drafted_without_the_sources_that_failed() -> None:
    result = ran("research-report", sources=fails("nothing found", "not-found"))

    assert result["final"].status == "completed"


def test_more_paragraphs_fit_the_job_that_they_are_added_to() -> None:
    job = read_job(EXAMPLES / "proofreading.yaml").content.submission()
    more = read_addition(EXAMPLES / "more-paragraphs.yaml").content.addition()

    result = run_job(
        job.model_copy(update={"tasks": (*job.tasks, *more.tasks)}),
        definitions=EXAMPLES / "proofreading.yaml",
        agents=AGENTS["proofreading"],
    )

    assert result.started.index("first-use") < result.started.index("recycling")


def test_the_definitions_of_triggers_fit_together() -> None:
    job = Job("upload")
    read = job.task("read", name="read-upload", input={"key": "uploads/orders.csv"})
    job.task("digest", name="write-digest", input={"about": read.output("summary")}, after=[read])

    result = run_job(
        job,
        definitions=EXAMPLES / "triggers.yaml",
        agents={"read-upload": {"summary": "Orders."}, "write-digest": {"digest": "Look."}},
    )

    assert result["digest"].inputs == ({"about": "Orders."},)


def test_the_functions_that_are_examples_run() -> None:
    job = Job("words")
    pieces = job.task("pieces", name="split", input={"text": "to be or not", "size": 6})
    job.task("words", name="count-words", input={"texts": pieces.output()}, after=[pieces])

    result = run_job(job, functions=[str(EXAMPLES / "text_functions")])

    assert result.outputs["words"] == {"words": 4}
