"""Words, deleted texts, undo, pastes and the history of the editor."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_testing import for_each
from pi_tui.editor.actions import act
from pi_tui.editor.clean import cleaned, cleaned_paste
from pi_tui.editor.history import History
from pi_tui.editor.press import press
from pi_tui.editor.state import Editor
from pi_tui.editor.text import Text
from pi_tui.keys.bindings import Bindings
from pi_tui.keys.events import Key
from pi_tui.keys.parse import Parser

LONG = "\n".join(f"line {number}" for number in range(30))


def do(editor: Editor, *actions: str) -> Editor:
    for action in actions:
        done = act(editor, action if "." in action else f"tui.editor.{action}", width=20, page=3)
        assert done is not None
        editor = done
    return editor


def typed(text: str, editor: Editor = Editor()) -> Editor:  # noqa: B008 - a value
    for character in text:
        editor = do(editor, "tui.input.newLine") if character == "\n" else editor.typed(character)
    return editor


def at_cursor(editor: Editor) -> str:
    return editor.text.text[: editor.text.cursor] + "|" + editor.text.text[editor.text.cursor :]


def stops(text: str, action: str, *, from_start: bool) -> str:
    """Return a text with every place where a move by words stops."""
    editor = Editor(text=Text(text, 0 if from_start else len(text)))
    found = set()
    while (moved := do(editor, action)).text.cursor != editor.text.cursor:
        found.add(moved.text.cursor)
        editor = moved
    return "".join("|" * (index in found) + character for index, character in enumerate(f"{text} ")).removesuffix(" ")


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        ("git commit -m 'x'", "|git |commit |-|m |'|x|'", "git| commit| -|m| '|x|'|"),
        ("snake_case.method(42)", "|snake_case|.|method|(|42|)", "snake_case|.|method|(|42|)|"),
        ("one  \n  two", "|one  |\n|  |two", "one|  |\n|  two|"),
        ("für dich…", "|für |dich|…", "für| dich|…|"),
    ],
)
def test_words_and_runs_of_punctuation_are_where_moves_stop(text: str, left: str, right: str) -> None:
    assert stops(text, "cursorWordLeft", from_start=False) == left
    assert stops(text, "cursorWordRight", from_start=True) == right


def test_a_paste_is_a_word_of_its_own() -> None:
    editor = typed("ab").pasted(LONG).typed("cd")

    assert do(editor, "cursorWordLeft", "cursorWordLeft").text.cursor == 2
    assert do(editor, "deleteCharBackward", "deleteCharBackward", "deleteWordBackward").value == "ab"


def test_a_jump_goes_to_the_character_that_is_typed_next() -> None:
    editor = do(typed("f(a, b)"), "cursorLineStart", "jumpForward").typed("b")

    assert at_cursor(editor) == "f(a, |b)"
    assert at_cursor(do(editor, "jumpBackward").typed("(")) == "f|(a, b)"
    assert at_cursor(do(editor, "jumpForward").typed("%")) == "f(a, |b)"


def test_another_key_ends_a_jump_that_was_begun() -> None:
    editor = do(typed("abc"), "jumpBackward", "cursorLeft").typed("a")

    assert editor.value == "abac"


def test_texts_that_are_deleted_one_after_the_other_come_back_as_one() -> None:
    editor = do(typed("one two three"), "deleteWordBackward", "deleteWordBackward")

    assert editor.value == "one "
    assert do(editor, "yank").value == "one two three"


def test_texts_deleted_on_both_sides_of_the_cursor_come_back_in_their_order() -> None:
    editor = do(typed("one two three"), "cursorWordLeft", "deleteWordBackward", "deleteToLineEnd")

    assert do(editor, "yank").value == "one two three"


def test_older_deleted_texts_come_back_in_place_of_the_newest() -> None:
    editor = do(typed("one"), "deleteToLineStart")
    editor = do(typed("two", editor), "deleteToLineStart")

    editor = do(typed("[", editor), "yank", "yankPop")

    assert editor.value == "[one"
    assert do(editor, "yankPop").value == "[two"
    assert do(editor, "cursorLeft", "yankPop").value == "[one"


def test_undo_takes_back_an_insertion_and_its_replacement_one_at_a_time() -> None:
    editor = do(typed("one"), "deleteToLineStart")
    editor = do(typed("two", editor), "deleteToLineStart", "yank", "yankPop")

    assert editor.value == "one"
    assert do(editor, "undo").value == "two"
    assert do(editor, "undo", "undo").value == ""


def test_at_the_ends_of_a_line_its_newline_is_deleted() -> None:
    editor = typed("one\ntwo")

    assert do(editor, "cursorLineStart", "deleteToLineStart").value == "onetwo"
    assert do(editor, "cursorUp", "cursorLineEnd", "deleteToLineEnd").value == "onetwo"


def test_typed_words_are_undone_one_at_a_time() -> None:
    editor = typed("fix the  bug")

    values = [editor.value]
    while editor.undo.past:
        editor = do(editor, "undo")
        values.append(editor.value)

    assert values == ["fix the  bug", "fix the", "fix", ""]


def test_what_is_typed_after_a_move_is_undone_on_its_own() -> None:
    editor = typed("X", do(typed("abc"), "cursorLeft"))

    assert do(editor, "undo").value == "abc"


def test_clearing_can_be_undone() -> None:
    assert do(typed("dear").cleared(), "undo").value == "dear"


def test_up_and_down_keep_their_column_over_short_rows() -> None:
    editor = typed("a long line\nx\nanother line")

    assert at_cursor(do(editor, "cursorUp")) == "a long line\nx|\nanother line"
    assert at_cursor(do(editor, "cursorUp", "cursorUp", "cursorDown", "cursorDown")) == at_cursor(editor)


def test_up_in_a_wrapped_line_goes_to_the_row_above() -> None:
    editor = typed("one two three four five six")

    assert at_cursor(do(editor, "cursorUp")) == "one two |three four five six"


def test_a_page_goes_as_far_as_there_are_rows() -> None:
    editor = typed("1\n2\n3\n4\n5")

    assert do(editor, "pageUp").text.line_start == len("1\n")
    assert do(editor, "pageUp", "pageUp", "pageUp").text.line_start == 0


@pytest.mark.parametrize(
    ("pasted", "label"),
    [
        (LONG, "[paste #1 +30 lines]"),
        ("\n".join("12345678901"), "[paste #1 +11 lines]"),
        (f"{LONG}\n", "[paste #1 +30 lines]"),
        ("x" * 1001, "[paste #1 1001 chars]"),
    ],
)
def test_a_long_paste_is_drawn_by_its_size_and_sent_whole(pasted: str, label: str) -> None:
    editor = typed("see ").pasted(pasted)

    (row,), place = editor.rows(40)
    assert row.shown == f"see {label}"
    assert place.cell == row.cells
    assert editor.sent()[1] == f"see {pasted}"


@pytest.mark.parametrize("pasted", ["\n".join("1234567890") + "\n", "x" * 1000])
def test_a_paste_that_is_not_long_is_text(pasted: str) -> None:
    assert Editor().pasted(pasted).text.text == pasted


def test_a_paste_survives_undo_the_ring_the_history_and_the_external_editor() -> None:
    editor = Editor(history=History.of(["before"])).pasted(LONG).typed("!")
    expected = [row.shown for row in editor.rows(40)[0]]

    undone = do(editor, "deleteToLineStart", "undo")
    yanked = do(editor, "deleteToLineStart", "yank")
    recalled = do(editor, "historyPrevious", "historyNext")
    outside = editor.put(f"{editor.value} and more")

    for each in (undone, yanked, recalled):
        assert [row.shown for row in each.rows(40)[0]] == expected
        assert each.value == f"{LONG}!"
    assert [row.shown for row in outside.rows(40)[0]] == [f"{expected[0]} and more"]


def test_a_paste_in_the_ring_survives_sending() -> None:
    editor, _ = do(Editor().pasted(LONG), "deleteToLineStart").typed("x").sent()

    assert do(editor.pasted("y" * 2000), "yank").value == "y" * 2000 + LONG


def test_the_marks_of_pastes_cannot_be_typed_or_pasted() -> None:
    editor = Editor().pasted(LONG)
    mark = editor.text.text

    forged = editor.cleared().pasted(f"see {mark}").typed(mark)

    assert forged.value == "see \u2039U+10F800\u203a\u2039U+10F800\u203a"
    assert editor.cleared().put(mark).value == "\u2039U+10F800\u203a"


@for_each(
    ("pasted", "text"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]52;c;aGk=\x1b\\x", "x"),
        ("\x1b[2Jx\x1b[", "x"),
        ("\x9b31mx\x90q\x9cy", "xy"),
        ("\x1bPq#0\x1b\\x\x1bcy", "xy"),
        ("tab\there\x00\x08\x7f", "tab\there"),
        ("one\x1b[106;5utwo", "one\ntwo"),
        ("a\ud800b", "ab"),
        ("\x1b]never ended\nnext line", "\nnext line"),
    ],
)
def test_no_control_sequence_of_a_paste_survives(pasted: str, text: str) -> None:
    assert cleaned_paste(pasted) == text


@given(st.text(alphabet=st.one_of(st.sampled_from("\x1b[]P;m\x07\\\x9b\r\n01u5a"), st.characters())))
def test_whatever_is_pasted_has_no_control_character_then(pasted: str) -> None:
    once = cleaned_paste(pasted)

    assert not {*once} & {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0))} - {"\n", "\t"}
    assert cleaned(once) == once
    once.encode()


def test_up_at_the_start_shows_what_was_sent_before_and_down_the_draft_again() -> None:
    editor = typed("draft", Editor(history=History.of(["one", "two"])))

    older = do(editor, "cursorUp", "cursorUp")
    assert older.value == "two"
    assert do(older, "cursorUp").value == "one"
    assert do(older, "cursorUp", "cursorUp").value == "one"
    assert do(older, "cursorDown").value == "draft"


def test_changes_to_what_was_sent_stay_until_something_is_sent() -> None:
    editor = typed("draft", Editor(history=History.of(["one", "two"])))
    changed = typed(" more", do(editor, "historyPrevious", "cursorLineEnd"))

    assert do(changed, "historyPrevious", "historyNext").value == "two more"
    assert do(changed, "historyNext").value == "draft"
    sent, value = changed.sent()
    assert value == "two more"
    assert sent.history.sent == ("one", "two", "two more")
    assert do(sent, "historyPrevious", "historyPrevious").value == "two"


def test_what_is_sent_twice_in_a_row_or_is_empty_counts_once_or_not() -> None:
    assert History.of(["a", "a", " ", "b", "a"]).sent == ("a", "b", "a")


def test_a_completion_replaces_what_was_typed_and_can_be_undone() -> None:
    editor = typed("read @ed now").replaced(5, 8, "@src/editor.py")

    assert at_cursor(editor) == "read @src/editor.py| now"
    assert do(editor, "undo").value == "read @ed now"


def pressed(editor: Editor, sent: str) -> Editor:
    parser = Parser()
    for event in parser.feed(sent.encode()) + parser.flush():
        assert isinstance(event, Key)
        editor = press(editor, event, Bindings("linux"), width=20, page=3) or editor
    return editor


def test_keys_type_and_edit() -> None:
    editor = pressed(Editor(), "fix teh\x17the bug\x1b[D\x1b[D\x1b[DX\x1f\x1b[13;2u")

    assert at_cursor(editor) == "fix the \n|bug"


def test_a_character_that_is_jumped_to_need_not_be_typed() -> None:
    jumping = pressed(Editor(), "a(b)\x1b\x1d")

    assert at_cursor(pressed(jumping, "(x")) == "ax|(b)"
    assert at_cursor(pressed(pressed(jumping, "\x1b"), "(")) == "a(b)(|"


def test_keys_that_are_not_the_editor_s_are_left_to_others() -> None:
    bindings = Bindings("linux")

    for key in (Key("f5"), Key("ctrl+l"), Key("escape"), Key("a", "a", "release")):
        assert press(Editor(), key, bindings, width=20, page=3) is None
