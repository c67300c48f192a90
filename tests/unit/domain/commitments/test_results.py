"""What is stored of commitments is bounded, and says what is missing."""

from switchyard.domain.commitments.results import (
    MAX_COMMITMENTS,
    MAX_REASON,
    MAX_STORED_BYTES,
    CheckedCommitments,
    CommitmentResult,
)


def a_result(number: int, *, met: bool = False, reason: str = "it is missing") -> CommitmentResult:
    return CommitmentResult(name=f"file-{number}", kind="file", met=met, reason=reason)


def test_a_sentence_names_what_is_missing() -> None:
    checked = CheckedCommitments(2, (a_result(1, met=True), a_result(2)))
    assert checked.sentence() == "1 of 2 commitments is not met: file-2: it is missing"
    assert (checked.met, checked.verified) == (1, False)


def test_nothing_is_verified_where_nothing_was_committed_to() -> None:
    assert not CheckedCommitments(1, ()).verified


def test_what_was_stored_is_read_again() -> None:
    checked = CheckedCommitments(2, (a_result(1, met=True), a_result(2)))
    assert CheckedCommitments.read(checked.stored()) == checked


def test_the_longest_results_fit_into_the_item() -> None:
    names = ["n" * 64] * MAX_COMMITMENTS
    results = tuple(
        CommitmentResult(name=name, kind="command", met=False, reason="ü" * MAX_REASON)
        for name in names
    )
    stored = CheckedCommitments(3, results).stored()
    assert len(stored.encode()) <= MAX_STORED_BYTES
    read = CheckedCommitments.read(stored)
    assert read
    assert [one.met for one in read.results] == [False] * MAX_COMMITMENTS


def test_what_a_newer_version_says_beyond_is_ignored() -> None:
    text = '{"attempt": 1, "more": 1, "results": [{"name": "a", "kind": "x", "met": true, "y": 1}]}'
    read = CheckedCommitments.read(text)
    assert read
    assert read.verified


def test_a_text_that_is_none_is_read_as_nothing() -> None:
    assert CheckedCommitments.read("") is None
    assert CheckedCommitments.read('{"attempt": 1}') is None
