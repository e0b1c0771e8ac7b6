"""MEMORY.md as a text: whatever the user wrote stays, line by line."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from pi_core import change_text
from pi_memory.document import MARK, add, cleaned, entries, find, remove
from pi_testing import for_each

if TYPE_CHECKING:
    from pathlib import Path

LINES = st.lists(
    st.sampled_from(
        ["", "# Memory", "## Preferences", "## Other ##", "- one", "  - inner", "* two", "text", "```", "  more"]
    )
    | st.text(max_size=12)
)


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.sampled_from(["Preferences", "New"]))
def test_adding_keeps_every_line(lines: list[str], newline: str, marked: bool, section: str) -> None:
    before = newline.join(lines)

    after = add(before, section, "added", marked=marked)

    rest = after.splitlines()
    position = max(number for number, line in enumerate(rest) if line == (f"- added {MARK}" if marked else "- added"))
    del rest[position]
    kept = iter(rest)
    assert not before.strip() or all(line in kept for line in before.splitlines())


@given(LINES)
def test_what_was_added_can_be_found_and_taken_out_again(lines: list[str]) -> None:
    before = "\n".join([*lines, ""])
    after = add(before, "A section that nobody has", "an entry that nobody has", marked=True)

    found = find(after, "an entry that NOBODY has")

    if "```" not in lines:
        assert [entry.text for entry in found] == ["an entry that nobody has"]
        assert remove(after, found[0]).startswith(before if before.strip() else "# Memory")


@given(st.text())
def test_entries_of_any_text_lie_within_it(text: str) -> None:
    count = len(text.splitlines())

    assert all(0 <= entry.first < entry.end <= count for entry in entries(text))


@given(st.text())
def test_a_cleaned_text_is_one_visible_line(text: str) -> None:
    line = cleaned(text)

    assert len(line.splitlines()) <= 1
    assert "-->" not in line
    assert cleaned(line) == line


@for_each(
    ("before", "after"),
    [
        ("", "# Memory\n\n## Preferences\n- new\n"),
        ("## preferences\n- a\n\n## Context\n- b\n", "## preferences\n- a\n- new\n\n## Context\n- b\n"),
        ("## Preferences\n- a", "## Preferences\n- a\n- new\n"),
        ("notes", "notes\n\n## Preferences\n- new\n"),
        ("```\n## Preferences\n```\n", "```\n## Preferences\n```\n\n## Preferences\n- new\n"),
        ("## Preferences\n### Food\n- a\n# End\n", "## Preferences\n### Food\n- a\n- new\n# End\n"),
    ],
)
def test_where_an_entry_goes(before: str, after: str) -> None:
    assert add(before, "Preferences", "new") == after


def test_an_entry_takes_its_inner_lines_with_it() -> None:
    text = "- one\n  more\n  - inner\n\n- two\n"

    assert [(entry.text, entry.first, entry.end) for entry in entries(text)] == [("one", 0, 3), ("two", 4, 5)]


def test_writers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    file.write_text("# Mine\n")

    def write(number: int) -> None:
        change_text(file, lambda before: add(before or "", f"Section {number % 3}", f"entry {number}"))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(24)))

    assert sorted(entry.text for entry in entries(file.read_text())) == sorted(
        f"entry {number}" for number in range(24)
    )
    assert file.read_text().startswith("# Mine\n")
