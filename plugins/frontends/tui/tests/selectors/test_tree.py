"""The tree of a session as a list."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pi_tui.keys.bindings import Bindings
from pi_tui.keys.events import Key
from pi_tui.selectors.selector import Cancelled, Chosen
from pi_tui.selectors.tree import EntryCopied, LabelChanged, TreeSelector
from pi_tui.selectors.tree_rows import FILTERS, Tree, TreeEntry

ENTRIES = [
    TreeEntry("m", None, "other", "[model_change]"),
    TreeEntry("u1", "m", "user", "How is the tide?"),
    TreeEntry("c1", "u1", "assistant", ""),
    TreeEntry("t1", "c1", "tool", "[read: tide.txt]"),
    TreeEntry("a1", "t1", "assistant", "High."),
    TreeEntry("u2", "a1", "user", "And tomorrow?"),
    TreeEntry("a2", "u2", "assistant", "Low."),
    TreeEntry("u3", "a1", "user", "And the moon?", label="moon", labelled="2026-01-02 10:00"),
    TreeEntry("b1", "u3", "bash", "[bash]: cal"),
    TreeEntry("a3", "b1", "assistant", "Full."),
]


def tree() -> Tree:
    return Tree(ENTRIES, "a3")


def drawn(selector: TreeSelector, user, width: int = 60) -> list[str]:
    rows = user.sees(selector, width, 30).splitlines()
    start = next(number for number, row in enumerate(rows) if row.startswith("Type to search:"))
    return rows[start + 1 : -2]


def test_a_tree_has_branches_folds_labels_and_the_current_path(user):
    assert user.sees(TreeSelector(tree()), 80) == (
        f"""{"─" * 80}
Session Tree
Left/Right page · Ctrl+Left/Ctrl+Right fold · Ctrl+X copy · Shift+L label ·
Shift+T label times · Ctrl+D/T/U/L/A filters · Ctrl+O next · Enter select ·
Escape cancel
Type to search:
  • user: How is the tide?
  • [read: tide.txt]
  • assistant: High.
  ├⊟ • [moon] user: And the moon?
  │  • [bash]: cal
› │  • assistant: Full. ← active
  └⊟ user: And tomorrow?
     assistant: Low.
  (6/8)
{"─" * 80}"""
    )


def test_a_narrow_tree_cuts_the_text(user):
    assert drawn(TreeSelector(tree()), user, 24)[3:6] == [
        "  ├⊟ • [moon] user: And…",
        "  │  • [bash]: cal",
        "› │  • assista… ← active",
    ]


def test_enter_takes_the_entry(user):
    assert user.press(TreeSelector(tree()), "down", "enter") == Chosen(ENTRIES[5])


@pytest.mark.parametrize(
    ("key", "texts"),
    [
        ("ctrl+t", ["How is the tide?", "High.", "And the moon?", "[bash]: cal", "Full.", "And tomorrow?", "Low."]),
        ("ctrl+u", ["How is the tide?", "And the moon?", "And tomorrow?"]),
        ("ctrl+l", ["And the moon?"]),
    ],
)
def test_filters_leave_out_entries(user, key, texts):
    selector = TreeSelector(tree())

    user.press(selector, key)

    assert [row.entry.text for row in selector.choices.found] == texts


def test_all_entries_are_displayed_on_request(user):
    selector = TreeSelector(tree())

    user.press(selector, "ctrl+a")

    assert len(selector.choices.found) == len(ENTRIES)
    assert "(no text)" in user.sees(selector)
    assert "[all]" in user.sees(selector)


def test_filters_follow_one_another(user):
    selector = TreeSelector(tree())

    user.press(selector, "ctrl+o")

    assert "[no-tools]" in user.sees(selector)

    user.press(selector, "ctrl+shift+o", "ctrl+shift+o")

    assert "[all]" in user.sees(selector)


def test_what_is_left_out_leaves_the_cursor_at_the_entry_before_it(user):
    selector = TreeSelector(tree())

    user.press(selector, "ctrl+u")

    assert selector.choices.selected.entry.id == "u3"
    assert "› ├─ • [moon] user: And the moon? ← active" in user.sees(selector)


def test_a_filter_without_entries_keeps_the_selection_for_the_next_one(user):
    selector = TreeSelector(Tree([entry for entry in ENTRIES if not entry.label and entry.parent != "u3"], "a2"))

    user.press(selector, "up", "up", "ctrl+l")
    assert "No entries found" in user.sees(selector)
    user.press(selector, "ctrl+d")

    assert selector.choices.selected.entry.id == "a1"


def test_left_and_right_go_by_pages_until_something_is_searched(user):
    selector = TreeSelector(tree())

    user.press(selector, "left")
    assert selector.choices.index == 0
    user.press(selector, "right")
    assert selector.choices.index == len(selector.choices.found) - 1
    user.press(selector, *"a", "left")
    assert selector.choices.index > 0


def test_the_keys_of_a_label_are_described_while_it_is_typed(user):
    selector = TreeSelector(tree())

    selector.press(Key("shift+l", "L"), user.bindings)

    assert "Enter save, remove if empty · Escape cancel" in user.sees(selector)
    assert "fold" not in user.sees(selector)


def test_a_branch_is_folded_and_unfolded(user):
    selector = TreeSelector(tree())

    user.press(selector, "ctrl+left", "ctrl+left")

    assert drawn(selector, user)[3:] == [
        "› ├⊞ • [moon] user: And the moon? ← active",
        "  └⊟ user: And tomorrow?",
        "     assistant: Low.",
    ]

    user.press(selector, "ctrl+right")

    assert len(drawn(selector, user)) == 8


def test_unfolding_goes_to_the_next_branch(user):
    selector = TreeSelector(tree())

    user.press(selector, "ctrl+left", "ctrl+right")

    assert selector.choices.selected.entry.id == "u2"


def test_a_search_leaves_what_matches(user):
    selector = TreeSelector(tree())

    user.type(selector, "moon")

    assert drawn(selector, user) == ["› • [moon] user: And the moon? ← active"]
    assert user.press(selector, "enter") == Chosen(ENTRIES[7])


@pytest.mark.parametrize(("typed", "found"), [("LATE runs", True), ("notes", False)])
def test_a_search_of_texts_wants_the_letters_of_a_word_together(user, typed, found):
    long = TreeEntry("a4", "a3", "assistant", "It runs, so nothing is wrong; only the tide is late.")
    selector = TreeSelector(Tree([*ENTRIES, long], "a4"))

    user.type(selector, typed)

    assert [row.entry for row in selector.choices.found] == [long] * found


def test_escape_clears_a_search_before_it_leaves(user):
    selector = TreeSelector(tree())
    user.press(selector, *"moon")

    assert user.press(selector, "escape") is None
    assert len(drawn(selector, user)) == 8
    assert user.press(selector, "escape") == Cancelled()


def test_a_label_is_edited_in_place(user):
    selector = TreeSelector(tree())
    selector.press(Key("shift+l", "L"), user.bindings)
    user.type(selector, "full")

    assert "Label: full" in user.sees(selector)
    assert user.press(selector, "enter") == LabelChanged("a3", "full")
    assert "[full] assistant: Full. ← active" in user.sees(selector)


def test_a_new_label_has_a_time(user):
    selector = TreeSelector(tree())
    selector.press(Key("shift+l", "L"), user.bindings)
    user.type(selector, "full")
    user.press(selector, "enter")

    selector.press(Key("shift+t", "T"), user.bindings)

    assert re.search(r"\[full \d{4}-\d\d-\d\d \d\d:\d\d] assistant", user.sees(selector))


def test_a_label_can_be_left_as_it_was(user):
    selector = TreeSelector(tree())
    selector.press(Key("shift+l", "L"), user.bindings)

    assert user.press(selector, "x", "escape") is None
    assert user.press(selector, "escape") == Cancelled()


def test_times_of_labels_are_displayed_on_request(user):
    selector = TreeSelector(tree())

    selector.press(Key("shift+t", "T"), user.bindings)

    assert "[moon 2026-01-02 10:00] user" in user.sees(selector)


def test_an_entry_is_copied(user):
    assert user.press(TreeSelector(tree()), "ctrl+x") == EntryCopied("Full.")


@pytest.mark.parametrize(("leaf", "chosen"), [("a3", "a3"), ("end", "a3"), ("end", "end"), ("u3", "u3")])
def test_the_session_is_where_nothing_of_the_conversation_follows(leaf, chosen):
    assert Tree([*ENTRIES, TreeEntry("end", "a3", "other", "[label]")], leaf).is_here(chosen)


@pytest.mark.parametrize(("leaf", "chosen"), [("a3", "b1"), ("a3", "a2"), ("end", "u3"), ("after", "u4")])
def test_the_session_is_nowhere_else(leaf, chosen):
    more = [
        TreeEntry("end", "a3", "other", "[label]"),
        TreeEntry("u4", "a3", "user", "x"),
        TreeEntry("after", "u4", "other", "[label]"),
    ]

    assert not Tree([*ENTRIES, *more], leaf).is_here(chosen)


def test_an_entry_whose_parent_is_gone_is_a_beginning(user):
    selector = TreeSelector(Tree([TreeEntry("a", "gone", "user", "a"), TreeEntry("b", None, "user", "b")], "b"))

    assert drawn(selector, user) == ["› ├─ • user: b ← active", "  └─ user: a"]


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    kinds = st.sampled_from(["user", "assistant", "tool", "bash", "custom", "summary", "other"])
    entries: list[TreeEntry] = []
    for number in range(draw(st.integers(0, 20))):
        parent = draw(st.sampled_from([None, *(each.id for each in entries)]))
        entry = TreeEntry(str(number), parent, draw(kinds), draw(st.text("ab漢\u202e\n", max_size=9)))
        entries.append(entry._replace(label=draw(st.sampled_from(["", "label"]))))
    return Tree(entries, draw(st.sampled_from([None, *(each.id for each in entries)])))


TREE_KEYS = st.sampled_from(
    [
        *("up", "down", "pageup", "pagedown", "ctrl+left", "ctrl+right", "shift+l", "shift+t", "escape"),
        *("ctrl+d", "ctrl+t", "ctrl+u", "ctrl+l", "ctrl+a", "ctrl+o", "ctrl+shift+o", "backspace", "a", "b"),
    ]
)


@given(trees(), st.lists(TREE_KEYS, max_size=12), st.integers(2, 60), st.integers(1, 30))
def test_rows_of_a_tree_fit_and_enter_takes_what_is_marked(tree, names, width, height):
    bindings = Bindings("linux")
    selector = TreeSelector(tree)

    for name in names:
        selector.press(Key(name, name if len(name) == 1 else ""), bindings)
        rows = selector.lines(width, height, bindings)

        assert all(cell_len(str(row)) <= width for row in rows)
        assert sum(row.runs[0].text == "› " for row in rows if row.runs) <= 1
        assert 0 <= selector.choices.index < max(len(selector.choices.found), 1)


@given(trees(), st.sampled_from(FILTERS))
def test_every_entry_that_passes_is_displayed_once(tree, wanted):
    rows = tree.rows(lambda entry: entry.passes(wanted))

    assert len({row.entry.id for row in rows}) == len(rows)
    assert {row.entry.id for row in rows} == {each.id for each in tree._entries.values() if each.passes(wanted)}
