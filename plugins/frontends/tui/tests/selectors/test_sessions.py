"""The list of stored sessions."""

from __future__ import annotations

from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pi_testing import for_each
from pi_tui.keys.bindings import Bindings
from pi_tui.selectors.selector import Cancelled, Chosen
from pi_tui.selectors.session_rows import SessionRow, arranged
from pi_tui.selectors.sessions import ScopeWanted, SessionDeleted, SessionRenamed, SessionSelector, TextWanted

NOW = 1_000_000.0

ROWS = [
    SessionRow("/s/tide.jsonl", "Mend the tide table", NOW - 300, 12, is_current=True),
    SessionRow("/s/fork.jsonl", "moon", NOW - 7200, 4, is_named=True, parent="/s/old.jsonl"),
    SessionRow("/s/old.jsonl", "What is the moon?", NOW - 90_000, 3),
    SessionRow("/s/other.jsonl", "Harbour lights", NOW - 9 * 86_400, 1, text="the wreck of the deutschland"),
]


def titles(selector: SessionSelector) -> list[str]:
    return [placed.row.title for placed in selector.choices.found]


def sessions() -> SessionSelector:
    return SessionSelector(ROWS, now=NOW)


def test_the_list_has_scope_keys_search_and_sessions(user):
    assert user.sees(sessions(), 100) == (
        f"""{"─" * 100}
Resume Session (Current Folder)               ◉ Current Folder | ○ All  Name: All  Sort: Threaded
Tab scope · Ctrl+N named · Ctrl+S sort · Ctrl+P path · Ctrl+R rename · Ctrl+D delete
>
→ Mend the tide table                                                                          12 5m
  What is the moon?                                                                             3 1d
  └─ moon                                                                                       4 2h
  Harbour lights                                                                                1 1w
Enter to resume · Escape to cancel
{"─" * 100}""".replace("(Current Folder)               ◉", f"(Current Folder){' ' * 18}◉")
    )


def test_a_narrow_list_wraps_its_head(user):
    assert user.sees(sessions(), 40).splitlines()[1:8] == [
        "Resume Session (Current Folder)",
        "◉ Current Folder | ○ All  Name: All  So…",
        "Tab scope · Ctrl+N named · Ctrl+S sort ·",
        "Ctrl+P path · Ctrl+R rename ·",
        "Ctrl+D delete",
        ">",
        "→ Mend the tide table              12 5m",
    ]


def test_enter_opens_the_session(user):
    assert user.press(sessions(), "down", "down", "enter") == Chosen(ROWS[1])


def test_sessions_are_sorted_in_several_ways(user):
    selector = sessions()

    user.press(selector, "ctrl+s")

    assert titles(selector)[1:3] == ["moon", "What is the moon?"]
    assert "Sort: Recent" in user.sees(selector, 100)


def test_only_sessions_with_a_name(user):
    selector = sessions()

    user.press(selector, "ctrl+n")

    assert titles(selector) == ["moon"]


def test_the_first_search_asks_for_the_text_of_messages(user):
    selector = SessionSelector([row._replace(text="") for row in ROWS], now=NOW)

    assert user.press(selector, "d") == TextWanted()
    assert user.press(selector, "e") is None

    selector.take(ROWS)
    user.type(selector, "utschland")

    assert titles(selector) == ["Harbour lights"]


@for_each(
    ("typed", "found"),
    [
        ("moon", ["moon", "What is the moon?"]),
        ('"the moon"', ["What is the moon?"]),
        ("re:^mend", ["Mend the tide table"]),
        ("wreck", ["Harbour lights"]),
        ("wrck", []),
        ("re:wreck of", ["Harbour lights"]),
        ('lights "wreck of"', ["Harbour lights"]),
    ],
)
def test_a_search_finds_titles_and_messages(typed, found):
    assert [placed.row.title for placed in arranged(ROWS, typed, "relevance", only_named=False)] == found


def test_tab_asks_for_all_folders(user):
    selector = sessions()

    assert user.press(selector, "tab") == ScopeWanted(everywhere=True)
    assert "Resume Session (All)" in user.sees(selector)
    assert user.press(selector, "tab") == ScopeWanted(everywhere=False)


def test_the_text_of_other_sessions_is_asked_for_again(user):
    selector = sessions()
    user.press(selector, "d", "backspace", "tab")

    assert user.press(selector, "d") == TextWanted()


def test_deleting_asks_first(user):
    selector = sessions()

    assert user.press(selector, "down", "ctrl+d") is None
    assert "Delete 'What is the moon?'?" in user.sees(selector)
    assert "Enter to delete · Escape to keep it" in user.sees(selector)
    assert user.press(selector, "enter") == SessionDeleted("/s/old.jsonl")


def test_a_session_can_be_kept_after_all(user):
    selector = sessions()

    assert user.press(selector, "down", "ctrl+d", "escape") is None
    assert user.press(selector, "escape") == Cancelled()


def test_what_is_deleted_is_what_was_asked_about_although_the_list_changed(user):
    selector = sessions()
    user.press(selector, "down", "ctrl+d")

    selector.take([ROWS[0], ROWS[3]])

    assert user.press(selector, "enter") == SessionDeleted("/s/old.jsonl")


def test_the_open_session_is_not_deleted(user):
    selector = sessions()

    assert user.press(selector, "ctrl+d", "enter") == Chosen(ROWS[0])
    assert "The session that is open cannot be deleted." in user.sees(selector)


def test_a_session_is_renamed_in_place(user):
    selector = sessions()
    user.press(selector, "ctrl+r")

    user.type(selector, "tides")

    assert "Name: tides" in user.sees(selector)
    assert user.press(selector, "enter") == SessionRenamed("/s/tide.jsonl", "tides")


def test_a_name_that_there_is_can_be_edited(user):
    selector = sessions()

    user.press(selector, "down", "down", "ctrl+r", "s")

    assert user.press(selector, "enter") == SessionRenamed("/s/fork.jsonl", "moons")


def test_ctrl_backspace_deletes_only_while_nothing_is_searched(user):
    selector = sessions()
    user.type(selector, "moon")

    user.press(selector, "ctrl+backspace")

    assert "Delete" not in user.sees(selector)


def test_paths_are_displayed_on_request(user):
    selector = SessionSelector([ROWS[2]._replace(cwd="~/tide")], now=NOW)

    assert "~/tide" not in user.sees(selector)

    user.press(selector, "ctrl+p")

    assert "  /s/old.jsonl" in user.sees(selector)
    assert "~/tide 3 1d" in user.sees(selector)


def test_reading_is_displayed(user):
    selector = SessionSelector(None, now=NOW)

    selector.show_progress(1200, 5000)

    assert "Loading 1,200/5,000..." in user.sees(selector, 120)

    selector.take([])

    assert "No sessions in this folder" in user.sees(selector)
    assert "Loading" not in user.sees(selector)


def test_the_cursor_stays_while_more_sessions_are_read(user):
    selector = SessionSelector(None, now=NOW)
    selector.take(ROWS[2:], is_last=False)
    user.press(selector, "down")

    selector.take(ROWS)

    assert selector.choices.selected.row == ROWS[3]


@frozen
class Forest:
    rows: list[SessionRow]


@st.composite
def forests(draw: st.DrawFn) -> Forest:
    count = draw(st.integers(0, 12))
    names = [str(number) for number in range(count)]
    parents = st.sampled_from([*names, "gone", None])
    times = st.floats(0, NOW)
    return Forest([SessionRow(name, draw(st.text(max_size=9)), draw(times), parent=draw(parents)) for name in names])


@given(forests())
def test_every_session_is_in_the_list_once_also_where_parents_are_a_cycle(forest):
    placed = arranged(forest.rows, "", "threaded", only_named=False)

    assert sorted(each.row.path for each in placed) == sorted(row.path for row in forest.rows)


@given(forests(), st.integers(1, 100), st.integers(1, 30))
def test_rows_of_sessions_fit(forest, width, height):
    rows = SessionSelector(forest.rows, now=NOW).lines(width, height, Bindings("linux"))

    assert all(cell_len(str(row)) <= width for row in rows)


def test_five_thousand_sessions_of_one_chain_are_arranged():
    rows = [SessionRow(str(n), "x", float(n), parent=str(n - 1) if n else None) for n in range(5000)]

    placed = arranged(rows, "", "threaded", only_named=False)

    assert [each.row.path for each in placed[:3]] == ["0", "1", "2"]
