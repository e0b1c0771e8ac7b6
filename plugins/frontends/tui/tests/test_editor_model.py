"""The editor against a list of units, each a character or a paste, whatever is done in whichever order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pi_tui.editor.actions import EDITOR_ACTIONS, act
from pi_tui.editor.clusters import is_boundary
from pi_tui.editor.history import History
from pi_tui.editor.state import Editor
from pi_tui.keys.actions import ACTIONS

LONG = "\n".join(f"line {number}" for number in range(30))
WIDE = "x" * 1001

WIDTH, PAGE = 20, 5


def do(editor: Editor, action: str) -> Editor:
    done = act(editor, f"tui.editor.{action}", width=WIDTH, page=PAGE)
    assert done is not None
    return done


class EditorMachine(RuleBasedStateMachine):
    """Characters of this alphabet are clusters of their own, so the model is a list."""

    @initialize()
    def start(self) -> None:
        self.editor = Editor()
        self.units: list[str] = []
        self.cursor = 0
        self.killed: list[str] = []

    def insert(self, *units: str) -> None:
        """Insert pastes that are long whole, and others by character."""
        units = tuple(part for unit in units for part in ([unit] if unit in {LONG, WIDE} else unit))
        self.units[self.cursor : self.cursor] = units
        self.cursor += len(units)

    def drop(self, start: int, end: int) -> list[str]:
        dropped = self.units[start:end]
        del self.units[start:end]
        self.cursor = start
        return dropped

    def line(self) -> tuple[int, int]:
        start = max((index + 1 for index in range(self.cursor) if self.units[index] == "\n"), default=0)
        end = min((at for at in range(self.cursor, len(self.units)) if self.units[at] == "\n"), default=len(self.units))
        return start, end

    @rule(character=st.sampled_from("ab .,漢é😀\t"))
    def types(self, character: str) -> None:
        self.editor = self.editor.typed(character)
        self.insert(character)

    @rule(text=st.sampled_from([LONG, WIDE]))
    def pastes_long(self, text: str) -> None:
        self.editor = self.editor.pasted(text)
        self.insert(text)

    @rule(pasted=st.sampled_from([("two\r\nlines", "two\nlines"), ("\x1b[1mred", "red"), ("\x1b]52;c;eA==\x07.", ".")]))
    def pastes(self, pasted: tuple[str, str]) -> None:
        self.editor = self.editor.pasted(pasted[0])
        self.insert(pasted[1])

    @rule()
    def starts_a_line(self) -> None:
        done = act(self.editor, "tui.input.newLine", width=WIDTH, page=PAGE)
        assert done is not None
        self.editor = done
        self.insert("\n")

    @rule()
    def goes_left(self) -> None:
        self.editor = do(self.editor, "cursorLeft")
        self.cursor = max(self.cursor - 1, 0)

    @rule()
    def goes_right(self) -> None:
        self.editor = do(self.editor, "cursorRight")
        self.cursor = min(self.cursor + 1, len(self.units))

    @rule(end=st.booleans())
    def goes_to_an_end_of_the_line(self, *, end: bool) -> None:
        self.editor = do(self.editor, "cursorLineEnd" if end else "cursorLineStart")
        self.cursor = self.line()[end]

    @rule()
    def deletes_back(self) -> None:
        self.editor = do(self.editor, "deleteCharBackward")
        if self.cursor:
            self.drop(self.cursor - 1, self.cursor)

    @rule()
    def deletes(self) -> None:
        self.editor = do(self.editor, "deleteCharForward")
        self.drop(self.cursor, self.cursor + 1)

    @rule()
    def kills_to_the_line_s_end_and_leaves(self) -> None:
        self.editor = do(self.editor, "deleteToLineEnd")
        _, end = self.line()
        if dropped := self.drop(self.cursor, max(end, min(self.cursor + 1, len(self.units)))):
            self.killed = dropped
        self.editor = self.editor.moved(self.editor.text.cursor)

    @rule()
    def yanks(self) -> None:
        self.editor = do(self.editor, "yank")
        self.insert(*self.killed)

    @rule()
    def undoes_and_redoes(self) -> None:
        undone = do(self.editor, "undo")
        self.editor = undone.redone() if undone != self.editor else self.editor

    @precondition(lambda self: self.units)
    @rule()
    def sends(self) -> None:
        self.editor, sent = self.editor.sent()
        assert sent == "".join(self.units)
        self.units, self.cursor = [], 0

    @rule(action=st.sampled_from(["cursorUp", "cursorDown", "pageUp", "pageDown"]))
    def goes_over_rows(self, action: str) -> None:
        self.editor = do(self.editor._replace(history=History()), action)
        before = self.editor.text.text[: self.editor.text.cursor]
        self.cursor = len(before)

    @invariant()
    def is_what_the_list_is(self) -> None:
        assert self.editor.value == "".join(self.units)
        assert self.editor.text.cursor == self.cursor
        assert len(self.editor.text.text) == len(self.units)


TestEditorMachine = EditorMachine.TestCase
TestEditorMachine.settings = settings(max_examples=60, stateful_step_count=40)

TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from("ab \n\t,.漢😀👍🏽❤️é\u0301\u200d\ufe0f🇩🇪\u202e\U000e0041"), st.characters(codec="utf-8")
    ),
    max_size=30,
)

ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("act"), st.sampled_from(sorted(EDITOR_ACTIONS))),
        st.tuples(st.sampled_from(["typed", "pasted", "put"]), TEXTS),
        st.tuples(st.just("pasted"), st.sampled_from([LONG, WIDE])),
    ),
    max_size=30,
)


def run(editor: Editor, done: tuple[str, str]) -> Editor:
    name, value = done
    if name == "act":
        changed = act(editor, value, width=7, page=2)
        assert changed is not None
        return changed
    return getattr(editor, name)(value)


@given(ACTS)
def test_the_cursor_never_cuts_a_cluster_and_no_control_character_gets_in(actions: list[tuple[str, str]]) -> None:
    editor = Editor(history=History.of(["one", "two\nlines"]))
    for each in actions:
        editor = run(editor, each)

        assert 0 <= editor.text.cursor <= len(editor.text.text)
        assert is_boundary(editor.text.text, editor.text.cursor)
        assert not {*editor.value} & {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0))} - {"\n", "\t"}


@given(ACTS)
def test_undoing_everything_and_redoing_it_gives_the_text_back(actions: list[tuple[str, str]]) -> None:
    editor = Editor()
    for each in actions:
        editor = run(editor, each)
    states = [editor]
    while states[-1].undo.past:
        states.append(states[-1].undone())

    redone = states[-1]
    for state in reversed(states[:-1]):
        redone = redone.redone()
        assert redone.text == state.text
        assert redone.value == state.value

    assert redone.text == editor.text
    assert states[-1].value == ""


def test_the_editor_does_all_its_actions() -> None:
    named = {name for name in ACTIONS if name.startswith("tui.editor.")} | {"tui.input.newLine"}

    assert named == EDITOR_ACTIONS
    assert act(Editor(), "app.exit", width=WIDTH, page=PAGE) is None
