"""Whether a path leads out of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pi_core import leads_out

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("path", "out"),
    [("", False), ("a", False), ("a/../b", False), ("..", True), ("../x", True), ("link", True), ("inner/x", False)],
)
def test_links_and_dots_are_followed(tmp_path: Path, path: str, out: bool) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    (folder / "inner").symlink_to(folder)

    assert leads_out(folder / path, folder) is out


def test_one_of_several_folders_is_enough(tmp_path: Path) -> None:
    assert not leads_out(tmp_path / "b" / "x", tmp_path / "a", tmp_path / "b")
    assert leads_out(tmp_path / "ab", tmp_path / "a")


def test_everything_is_in_the_root() -> None:
    assert not leads_out("/etc", "/")


def test_a_path_that_cannot_be_followed_leads_out(tmp_path: Path) -> None:
    assert leads_out(f"{tmp_path}/\0", tmp_path)
