"""Saves of MiniStack's state: complete or absent."""

from pathlib import Path

import pytest

from switchyard_local.emulator.saves import Saves


def write(saves: Saves, state: str, *, final: bool = False) -> None:
    saves.write({"sqs": state}, dump=lambda _, state: str(state), port=4580, now_ms=7, final=final)


def test_a_restore_brings_back_the_last_save_and_nothing_older(tmp_path: Path) -> None:
    saves, state = Saves(tmp_path / "saves"), tmp_path / "state"
    state.mkdir()
    (state / "kms.json").write_text("of an older run")
    write(saves, "first")
    write(saves, "second")
    saves.restore(state)
    assert {file.name: file.read_text() for file in state.iterdir()} == {"sqs.json": "second"}


def test_a_save_that_was_cut_short_leaves_the_one_before(tmp_path: Path) -> None:
    saves = Saves(tmp_path)

    def cut_short(service: str, state: object) -> str:
        raise KeyboardInterrupt

    write(saves, "complete")
    with pytest.raises(KeyboardInterrupt):
        saves.write({"sqs": "half"}, dump=cut_short, port=4580, now_ms=8, final=False)
    saves.restore(tmp_path / "state")
    assert (tmp_path / "state" / "sqs.json").read_text() == "complete"


def test_a_restored_save_is_final_no_longer(tmp_path: Path) -> None:
    saves = Saves(tmp_path)
    write(saves, "all", final=True)
    saves.restore(tmp_path / "state")
    last = saves.last()
    assert last is not None
    assert not last.final


def test_only_two_saves_take_space(tmp_path: Path) -> None:
    saves = Saves(tmp_path)
    for number in range(5):
        write(saves, str(number))
    assert sorted(folder.name for folder in tmp_path.iterdir() if folder.is_dir()) == ["4", "5"]


def test_a_damaged_record_of_saves_counts_as_none(tmp_path: Path) -> None:
    (tmp_path / "last.json").write_text('{"number": 1}')
    assert Saves(tmp_path).last() is None
