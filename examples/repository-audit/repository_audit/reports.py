"""Writes one report of what all agents found."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from switchyard.functions import input_files, progress, task

SEVERITIES: Final = ("high", "medium", "low")


@dataclass
class Finding:
    path: str
    line: int
    severity: str
    what: str


@dataclass
class Report:
    """The content of the report, in numbers."""

    reviewed: int
    findings: dict[str, int]
    not_reviewed: list[str]


@task(name="write-report", retries=0)
def write_report(paths: dict[str, str], skipped: list[str]) -> Report:
    """Write `report.md` from the reviews, the severest findings first."""
    reviews: dict[str, dict[str, Any]] = {}
    for file in input_files("review/*/task-result.json"):
        reviews[file.parent.name] = json.loads(file.read_text())
        progress(len(reviews) / len(paths), f"{len(reviews)} of {len(paths)} reviews")
    findings = [
        Finding(paths[key], found["line"], found["severity"], _on_one_line(found["what"]))
        for key, review in reviews.items()
        for found in review["findings"]
    ]
    missing = [path for key, path in paths.items() if key not in reviews]
    report = Report(
        reviewed=len(reviews),
        findings={one: sum(f.severity == one for f in findings) for one in SEVERITIES},
        not_reviewed=[*missing, *skipped],
    )
    Path("artifacts/report.md").write_text(_page(report, findings), encoding="utf-8")
    return report


def _page(report: Report, findings: list[Finding]) -> str:
    lines = ["# Audit", "", f"{report.reviewed} files were reviewed."]
    for severity in SEVERITIES:
        lines += ["", f"## {severity.capitalize()} ({report.findings[severity]})", ""]
        lines += [
            f"- `{_on_one_line(one.path)}:{one.line}` {one.what}"
            for one in sorted(findings, key=lambda one: (one.path, one.line))
            if one.severity == severity
        ]
    if report.not_reviewed:
        lines += ["", "## Not reviewed", "", *(f"- `{path}`" for path in report.not_reviewed)]
    return "\n".join(lines) + "\n"


def _on_one_line(text: str) -> str:
    """Return a text of strangers without line breaks and marks that would change the page."""
    return " ".join(text.split()).replace("`", "'").replace("<", "&lt;")
