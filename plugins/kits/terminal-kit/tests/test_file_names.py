"""Names of files, and which of them match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from pi_terminal_kit.file_names import FileNames
from pi_terminal_kit.matching import at_word, best_matches, matcher, mention
from pi_terminal_kit.paths import names_for, path_word
from pi_testing import for_each

if TYPE_CHECKING:
    from pathlib import Path


def test_folders_are_names_too() -> None:
    names = FileNames("/tides", lambda _folder: ["src/tide.py", "src/deep/er.py", "with space.txt"]).matching("")

    assert sorted(names) == ["src/", "src/deep/", "src/deep/er.py", "src/tide.py", "with space.txt"]


def test_the_caller_walks_the_folder(tmp_path: Path) -> None:
    names = FileNames(str(tmp_path), lambda folder: ["a/b.py"] if folder == str(tmp_path) else [])

    assert names.matching("") == ["a/", "a/b.py"]


def test_names_are_read_once_unless_there_are_too_many(tmp_path: Path) -> None:
    walks = []

    def walk(_folder: str) -> list[str]:
        walks.append(1)
        return [f"{number}.py" for number in range(50)]

    few, many = FileNames(str(tmp_path), walk), FileNames(str(tmp_path), walk, most=10)

    assert few.matching("49") == few.matching("49") == ["49.py"]
    assert len(walks) == 1
    assert many.matching("49") == many.matching("49") == ["49.py"]
    assert len(walks) == 3
    assert len(many.matching("py")) == 10


def test_nothing_is_kept_of_a_listing_that_was_stopped(tmp_path: Path) -> None:
    names = FileNames(str(tmp_path), lambda _folder: ["a.py", "b.py"])
    answers = iter([False, True, True])

    assert names.matching("", lambda: next(answers)) == []
    assert names.matching("") == ["a.py", "b.py"]


def test_names_that_cannot_be_typed_are_left_out(tmp_path: Path) -> None:
    names = FileNames(str(tmp_path), lambda _folder: ["a\nb", "c\x1b[2J", "d\udcff", "e f"])

    assert names.matching("") == ["e f"]


def test_the_best_matches_come_first() -> None:
    paths = ["docs/atide.md", "src/tide.py", "tide/x.py", "t/i/d.e", "other"]

    assert best_matches(paths, "TIDE") == ["src/tide.py", "tide/x.py", "docs/atide.md", "t/i/d.e"]
    assert best_matches(paths, "tde") == ["docs/atide.md", "src/tide.py", "tide/x.py", "t/i/d.e"]
    assert best_matches(["src/", "src/a.py", "lib/src/"], "src", most=2) == ["src/", "src/a.py"]


@given(st.lists(st.text()), st.text())
def test_a_match_has_the_letters_in_their_order(paths: list[str], typed: str) -> None:
    for path in best_matches(paths, typed):
        letters = iter(path.lower())
        assert all(letter in letters for letter in typed.lower())


def test_a_long_text_that_lacks_only_the_last_letter_does_not_match() -> None:
    assert matcher("a" * 12 + "b")("a" * 2000) is None


@for_each(
    ("before", "found"),
    [
        ("@", (0, "")),
        ("see @src/t", (4, "src/t")),
        ("one\nsee (@a", (9, "a")),
        ('see @"with sp', (4, "with sp")),
        ("mail a@b", None),
        ("see @a b", None),
        ("@a\nb", None),
    ],
)
def test_a_word_with_an_at_sign_ends_at_the_cursor(before: str, found: tuple[int, str] | None) -> None:
    assert at_word(before) == found


def test_a_path_with_a_space_is_quoted() -> None:
    assert mention("a.py") == "@a.py"
    assert mention("with space.txt") == '@"with space.txt"'


@for_each(
    ("before", "found"),
    [
        ("cat src/t", (4, "src/", "t", False)),
        ("one\n~/x", (4, "~/", "x", False)),
        ("a=(b", (3, "", "b", False)),
        ('cat "a b/c', (5, "a b/", "c", True)),
        ('cat "a b" c', (10, "", "c", False)),
        ("cat ", None),
        ('cat "', None),
    ],
)
def test_a_path_is_the_last_word_or_follows_an_open_quotation_mark(
    before: str, found: tuple[int, str, str, bool] | None
) -> None:
    assert path_word(before) == found


def test_names_that_a_path_may_go_on_with_are_those_in_its_folder(tmp_path: Path) -> None:
    for name in ("src", ".git"):
        (tmp_path / name).mkdir()
    (tmp_path / "setup.py").touch()

    def names(typed: str) -> list[str]:
        word = path_word(typed)
        assert word is not None
        return names_for(word, str(tmp_path))

    assert names("s") == ["setup.py", "src/"]
    assert names("./") == ["setup.py", "src/"]
    assert names("./.") == [".git/"]
    assert names("nowhere/") == []
    assert names("a\0b/") == []
