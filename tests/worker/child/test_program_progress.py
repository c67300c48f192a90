"""A program reports how far it is by lines of a file, which may be anything."""

import os
from pathlib import Path

import pytest

from switchyard_worker.boundary import Assignment, Code
from switchyard_worker.child import code
from switchyard_worker.child.program_progress import MAX_READ_BYTES, ProgressFile


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "progress.txt"


def reported(file: Path) -> list[str]:
    lines: list[str] = []
    ProgressFile(file, lines.append).look()
    return lines


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"0.4 page 12 of 30\n", ["40 % page 12 of 30"]),
        (b"0.1 a\n0.25 b\n0.9 unfin", ["25 % b"]),
        (b"1\n", ["100 %"]),
        (b"7 far\n", ["100 % far"]),
        (b"nan x\n", ["0 % x"]),
        (b"half of it\n", []),
        (b"", []),
        (b"0.5 no end of line", []),
        (b"\xff\xfe\n", []),
        (b"x" * (2 * MAX_READ_BYTES) + b"\n0.5 at the end\n", ["50 % at the end"]),
        (b"0.5 " + b"x" * (2 * MAX_READ_BYTES) + b"\n", []),
    ],
)
def test_the_last_whole_line_counts(file: Path, content: bytes, lines: list[str]) -> None:
    file.write_bytes(content)
    assert reported(file) == lines


def test_the_same_line_is_reported_once(file: Path) -> None:
    lines: list[str] = []
    progress = ProgressFile(file, lines.append)
    for content in ("0.1 a\n", "0.1 a\n", "0.2 b\n"):
        file.write_text(content)
        progress.look()
    assert lines == ["10 % a", "20 % b"]


def test_nothing_but_an_ordinary_file_is_read(file: Path, tmp_path: Path) -> None:
    assert reported(file) == []
    secret = tmp_path / "secret"
    secret.write_text("0.5 secret\n")
    file.symlink_to(secret)
    assert reported(file) == []
    file.unlink()
    os.mkfifo(file)
    assert reported(file) == []
    file.unlink()
    file.mkdir()
    assert reported(file) == []


def test_a_program_that_runs_is_looked_at_and_its_progress_is_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(code, "SECONDS_BETWEEN_REPORTS", 0.05)
    (tmp_path / "artifacts").mkdir()
    script = 'echo "0.4 page 12" > "$PROGRESS_FILE"; sleep 0.5'
    program = Code(command=("sh", "-c", script))

    assignment = Assignment(
        request_id="job__a",
        attempt=1,
        backend="offline",
        model="",
        tag="",
        description="",
        max_turns=1,
        timeout_ms=60_000,
        code=program,
    )
    (tmp_path / "logs").mkdir()
    (tmp_path / "traces").mkdir()
    code.CodeTask(assignment, program, tmp_path).run()

    assert '"type": "progress", "stepName": "40 % page 12"' in capfd.readouterr().out
