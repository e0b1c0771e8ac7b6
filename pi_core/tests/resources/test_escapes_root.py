"""Whether a path escapes a folder, with links and dots resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pi_core import escapes_root

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("path", "out"),
    [("", False), ("a", False), ("a/../b", False), ("..", True), ("../x", True), ("link", True), ("inner/x", False)],
)
def test_links_and_dots_are_resolved(tmp_path: Path, path: str, out: bool) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    (folder / "inner").symlink_to(folder)

    assert escapes_root(folder / path, folder) is out


def test_a_path_inside_one_of_several_folders_does_not_escape(tmp_path: Path) -> None:
    assert not escapes_root(tmp_path / "b" / "x", tmp_path / "a", tmp_path / "b")
    assert escapes_root(tmp_path / "ab", tmp_path / "a")


def test_no_path_escapes_the_file_system_root() -> None:
    assert not escapes_root("/etc", "/")


def test_a_path_that_cannot_be_resolved_escapes(tmp_path: Path) -> None:
    assert escapes_root(f"{tmp_path}/\0", tmp_path)
