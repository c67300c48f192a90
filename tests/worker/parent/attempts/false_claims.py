"""Tasks that claim success and have not done what they committed to, each in a way of its own."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

REPORT: Final = "report.md"
WRITE: Final = 'open("artifacts/report.md", "w").write("done")'
RIGHT_HASH: Final = hashlib.sha256(b"done").hexdigest()
FORGED: Final = '{"attempt": 1, "verified": true, "commitments": [{"name": "file-1", "met": true}]}'
LATER: Final = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(2)
        open("artifacts/report.md", "w").write("done")
    os._exit(0)
"""
NUMBERS: Final = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@dataclass(frozen=True, kw_only=True)
class FalseClaim:
    script: str = "pass"
    """What the child does before it claims success."""
    commitments: Sequence[Mapping[str, Any]]
    said: str
    """Part of the error."""
    output: Any = None
    grader: Mapping[str, Any] = field(default_factory=dict)
    category: str = "commitments-failed"


def a_file(script: str, said: str, **more: Any) -> FalseClaim:
    commitment = {"kind": "file", "path": REPORT} | more
    return FalseClaim(script=script, commitments=[commitment], said=said)


def an_output(condition: str, output: Any, said: str) -> FalseClaim:
    commitment = {"kind": "output", "condition": condition}
    return FalseClaim(commitments=[commitment], output=output, said=said)


def a_command(
    command: str, said: str, *more: Mapping[str, Any], timeout: int = 60_000
) -> FalseClaim:
    commitment = {"kind": "command", "command": ["sh", "-c", command], "timeout": timeout}
    return FalseClaim(commitments=[commitment, *more], said=said)


def a_url(path: str, said: str, **more: Any) -> FalseClaim:
    """`{}` stands for a server of the test."""
    commitment = {"kind": "http", "url": path, "timeout": 1_000} | more
    return FalseClaim(commitments=[commitment], said=said)


def a_rubric(grader: Mapping[str, Any], said: str, **more: Any) -> FalseClaim:
    return FalseClaim(
        script=WRITE,
        commitments=[{"kind": "rubric", "rubric": "The report is good."}],
        said=said,
        grader=grader,
        **more,
    )


NOTHING: Final = "nothing in artifacts matches report.md"

FILES: Final = {
    "missing": a_file("pass", NOTHING),
    "missing-in-artifacts": a_file('open("report.md", "w").write("done")', NOTHING),
    "another-name": a_file('open("artifacts/Report.md", "w").write("done")', NOTHING),
    "empty": a_file('open("artifacts/report.md", "w")', "is empty"),
    "too-small": a_file(WRITE, "has 4 bytes, at least 100", minBytes=100),
    "too-large": a_file(WRITE, "has 4 bytes, at most 2", maxBytes=2),
    "wrong-hash": a_file(WRITE, "has the SHA-256", sha256="0" * 64),
    "not-json": a_file(WRITE, "unreadable", schema=NUMBERS),
    "too-deep": a_file(
        'open("artifacts/report.md", "w").write("[" * 100_000)', "unreadable", schema=NUMBERS
    ),
    "wrong-schema": a_file(
        'open("artifacts/report.md", "w").write(\'{"n": "1"}\')', "mismatch", schema=NUMBERS
    ),
    "too-few": a_file(WRITE, "1 files match *.md, at least 3", path="*.md", minCount=3),
    "too-many": a_file(
        '[open(f"artifacts/{n}.md", "w").write("x") for n in range(3)]',
        "3 files match *.md, at most 2",
        path="*.md",
        maxCount=2,
    ),
    "dangling-link": a_file('os.symlink("nowhere", "artifacts/report.md")', NOTHING),
    "link-outside": a_file('os.symlink("/etc/hostname", "artifacts/report.md")', NOTHING),
    "link-inside": a_file(
        'open("real.md", "w").write("done"); os.symlink("../real.md", "artifacts/report.md")',
        NOTHING,
    ),
    "linked-folder": a_file(
        'os.symlink("/etc", "artifacts/etc")', "nothing in artifacts matches", path="etc/hostname"
    ),
    "artifacts-are-a-link": a_file(
        'os.mkdir("x"); open("x/report.md", "w").write("done"); os.rmdir("artifacts");'
        ' os.symlink("x", "artifacts")',
        NOTHING,
    ),
    "hard-link": a_file(WRITE + '; os.link("artifacts/report.md", "other")', NOTHING),
    "pipe": a_file('os.mkfifo("artifacts/report.md")', NOTHING),
    "folder": a_file('os.mkdir("artifacts/report.md")', NOTHING),
    "control-characters": a_file(
        'open("artifacts/report\\x1b.md", "w").write("done")',
        "nothing in artifacts matches",
        path="report*.md",
    ),
    "larger-than-stored": a_file(
        'open("artifacts/report.md", "w").truncate(30_000_000)', "is larger than"
    ),
    "ten-gigabytes": a_file('open("artifacts/report.md", "w").truncate(10**10)', NOTHING),
    "written-after-the-end": a_file(LATER, NOTHING),
    "forged-evidence": a_file(f"open('logs/commitments.json', 'w').write('{FORGED}')", NOTHING),
    "forged-print": a_file(f"print('{FORGED}'); print('verified: true')", NOTHING),
}
OUTPUTS: Final = {
    "condition-false": an_output("${output.n} > 3", {"n": 2}, "does not hold: ${output.n} is 2"),
    "value-absent": an_output("${output.n} > 3", {"m": 4}, "cannot be judged"),
    "wrong-kind": an_output("${output.n} > 3", {"n": "many"}, "cannot be judged"),
    "not-the-input": an_output("${output.id} == ${input.id}", {"id": "other"}, "does not hold"),
    "claims-in-the-output": an_output(
        "exists ${output.report}", {"verified": True, "met": True}, "does not hold"
    ),
}
COMMANDS: Final = {
    "exit-code": a_command("echo broken; exit 3", "exit code 3; it printed: broken"),
    "hangs": a_command("sleep 60", "it took longer than 1,000 ms", timeout=1_000),
    "forks-and-fails": a_command("sleep 60 & sleep 60 & exit 4", "exit code 4"),
    "prints-100-mb": a_command("yes | head -c 100000000", "it printed too much"),
    "killed": a_command("kill -9 $$", "signal 9 ended it"),
    "forges-a-verdict": a_command("echo '{\"met\": true}'; exit 1", "exit code 1"),
    "no-such-program": FalseClaim(
        commitments=[{"kind": "command", "command": ["no-such-program"]}], said="exit code 127"
    ),
    "writes-after-the-end": a_command(
        "(sleep 2; printf done > artifacts/report.md) & exit 0",
        NOTHING,
        {"kind": "file", "path": REPORT},
    ),
}
URLS: Final = {
    "status-404": a_url("{}/404", "answered 404, not 200"),
    "status-500": a_url("{}/500", "answered 500, not 200"),
    "redirect": a_url("{}/302", "answered 302, not 200"),
    "hanging-server": a_url("{}/hang", "no answer within 1 s"),
    "private-address": a_url("https://10.0.0.1/", "10.0.0.1 is private"),
    "metadata": a_url("https://169.254.169.254/", "is link-local"),
    "another-port": a_url("https://example.com:8443/", "must not name another port"),
    "file-changed-meanwhile": FalseClaim(
        script=WRITE,
        commitments=[{"kind": "file", "path": REPORT}, {"kind": "http", "url": "http://change/"}],
        said="report.md changed after it was checked",
    ),
}
RUBRICS: Final = {
    "grader-says-no": a_rubric({"output": {"met": False, "reason": "too short"}}, "too short"),
    "grader-malformed": a_rubric({"output": {"met": "yes"}}, "the grader did not judge it"),
    "grader-out-of-reach": a_rubric(
        {"fail": {"category": "server-error", "usage": {"inputTokens": 1}}},
        "the grader failed",
        category="server-error",
    ),
    "grader-not-asked": FalseClaim(
        commitments=[
            {"kind": "rubric", "rubric": "All is well."},
            {"kind": "file", "path": REPORT},
        ],
        said="no grader was asked",
        grader={"output": {"met": True, "reason": "yes"}},
    ),
}
FALSE_CLAIMS: Final = {**FILES, **OUTPUTS, **COMMANDS, **URLS, **RUBRICS}
