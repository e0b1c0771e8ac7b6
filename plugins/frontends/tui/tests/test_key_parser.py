"""The parser of keys, against tables of what terminals send, and against bytes of any kind, cut anywhere."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_testing import for_each
from pi_tui.keys.events import Focus, Key, Mouse, Paste, Reply
from pi_tui.keys.names import known_key
from pi_tui.keys.parse import Parser

LEGACY = {
    b"\x1b[A": "up",
    b"\x1bOB": "down",
    b"\x1b[1;5C": "ctrl+right",
    b"\x1b[1;3D": "alt+left",
    b"\x1b\x1b[A": "alt+up",
    b"\x1b\x1bOB": "alt+down",
    b"\x1b[1;2P": "shift+f1",
    b"\x1bOQ": "f2",
    b"\x1b[15~": "f5",
    b"\x1b[24;5~": "ctrl+f12",
    b"\x1b[[A": "f1",
    b"\x1b[H": "home",
    b"\x1b[1;5F": "ctrl+end",
    b"\x1b[4~": "end",
    b"\x1b[5;5~": "ctrl+pageup",
    b"\x1b[6~": "pagedown",
    b"\x1b[3~": "delete",
    b"\x1b[3;3~": "alt+delete",
    b"\x1b[a": "shift+up",
    b"\x1bOd": "ctrl+left",
    b"\x1b[5^": "ctrl+pageup",
    b"\x1b[Z": "shift+tab",
    b"\x1b\r": "alt+enter",
    b"\x1bb": "alt+b",
    b"\x1bf": "alt+f",
    b"\x1bd": "alt+d",
    b"\x1by": "alt+y",
    b"\x1bB": "shift+alt+b",
    b"\x1b\x7f": "alt+backspace",
    b"\x1b\x1d": "ctrl+alt+]",
    b"\x1b\x10": "ctrl+alt+p",
    b"\x1b+": "alt++",
    b"\x1b\xc3\xa9": "alt+é",
    b"\x1d": "ctrl+]",
    b"\x1f": "ctrl+-",
    b"\x00": "ctrl+space",
    b"\x7f": "backspace",
    b"\x08": "backspace",
    b"\t": "tab",
    b"\r": "enter",
    b"\n": "ctrl+j",
    b"\x1bOM": "enter",
}

EXTENDED = {
    b"\x1b[13;2u": "shift+enter",
    b"\x1b[27;2;13~": "shift+enter",
    b"\x1b[13;3u": "alt+enter",
    b"\x1b[127;3u": "alt+backspace",
    b"\x1b[127;5u": "ctrl+backspace",
    b"\x1b[93;7u": "ctrl+alt+]",
    b"\x1b[112;6u": "ctrl+shift+p",
    b"\x1b[27;6;80~": "ctrl+shift+p",
    b"\x1b[80;6u": "ctrl+shift+p",
    b"\x1b[45;5u": "ctrl+-",
    b"\x1b[107;9u": "super+k",
    b"\x1b[1089::99;5u": "ctrl+c",
    b"\x1b[27u": "escape",
    b"\x1b[9;2u": "shift+tab",
    b"\x1b[57419u": "up",
    b"\x1b[97;69u": "ctrl+a",
    b"\x1b[1;129A": "up",
}


def press(name: str) -> Key:
    return Key(name)


@for_each(("sent", "name"), [*LEGACY.items(), *EXTENDED.items()])
def test_what_a_terminal_sends_is_the_key_that_was_pressed(sent: bytes, name: str) -> None:
    parser = Parser()

    assert [*parser.feed(sent), *parser.flush()] == [press(name)]
    assert known_key(name) == name


@for_each(("sent", "name"), [*LEGACY.items(), *EXTENDED.items()])
def test_a_sequence_that_is_cut_between_reads_is_the_same_key(sent: bytes, name: str) -> None:
    parser = Parser()

    assert [key for byte in sent for key in parser.feed(bytes([byte]))] + parser.flush() == [press(name)]


@for_each(
    ("sent", "key"),
    [
        (b"a", Key("a", "a")),
        (b"A", Key("shift+a", "A")),
        (b" ", Key("space", " ")),
        ("漢".encode(), Key("漢", "漢")),
        ("É".encode(), Key("shift+é", "É")),
        (b"+", Key("+", "+")),
        (b"\x1b[97u", Key("a", "a")),
        (b"\x1b[97:65;2u", Key("shift+a", "A")),
        (b"\x1b[50:64;2;64u", Key("shift+2", "@")),
        (b"\x1b[97;1:2u", Key("a", "a", "repeat")),
        (b"\x1b[97;1:3u", Key("a", "a", "release")),
        (b"\x1b[1;1:3A", Key("up", "", "release")),
        (b"\x1b[57404u", Key("5", "5")),
        (b"\x1bOu", Key("5", "5")),
        (b"\x1b[32;2u", Key("shift+space", " ")),
    ],
)
def test_a_key_that_types_something_has_its_text(sent: bytes, key: Key) -> None:
    assert Parser().feed(sent) == [key]


def test_escape_alone_waits_until_the_caller_gives_up_waiting() -> None:
    parser = Parser()

    assert parser.feed(b"\x1b") == []
    assert parser.pending
    assert parser.flush() == [Key("escape")]
    assert not parser.pending


def test_two_escapes_are_two_keys() -> None:
    parser = Parser()

    assert parser.feed(b"\x1b\x1b") + parser.flush() == [Key("escape"), Key("escape")]


def test_a_sequence_that_never_ends_is_read_as_typed() -> None:
    parser = Parser()

    assert parser.feed(b"\x1b[") + parser.flush() == [Key("alt+[")]
    assert parser.feed(b"\x1bO") + parser.flush() == [Key("shift+alt+o")]


def test_the_terminal_s_settings_tell_backspace_from_control_backspace() -> None:
    assert Parser("\x7f").feed(b"\x7f\x08") == [Key("backspace"), Key("ctrl+backspace")]
    assert Parser("\x08").feed(b"\x7f\x08") == [Key("ctrl+backspace"), Key("backspace")]


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc"])), st.data())
def test_a_paste_is_one_event_with_its_text_unchanged(text: str, data: st.DataObject) -> None:
    sent = f"x\x1b[200~{text}\r\n\x1b[A\t\x1b[201~y".encode()
    cut = data.draw(st.integers(0, len(sent)))
    parser = Parser()

    events = parser.feed(sent[:cut]) + parser.feed(sent[cut:])

    assert events == [Key("x", "x"), Paste(f"{text}\r\n\x1b[A\t"), Key("y", "y")]


def test_a_paste_that_stays_open_is_not_flushed() -> None:
    parser = Parser()

    assert parser.feed(b"\x1b[200~abc\x1b[20") == []
    assert not parser.pending
    assert parser.flush() == []
    assert parser.feed(b"1~") == [Paste("abc")]


def test_lines_that_are_read_at_once_are_a_paste_where_terminals_do_not_mark_them() -> None:
    parser = Parser(marks_pastes=False)

    assert parser.feed(b"one\rtwo") == []
    assert parser.feed(b"\rthree\r") == []
    assert parser.pending
    assert parser.flush() == [Paste("one\rtwo\rthree"), Key("enter")]
    assert parser.feed(b"a\r") == [Key("a", "a"), Key("enter")]
    assert parser.feed(b"/quit\ryes")[-1] == Key("s", "s")
    assert Parser().feed(b"a\rb") == [Key("a", "a"), Key("enter"), Key("b", "b")]


@for_each(
    ("sent", "event"),
    [
        (b"\x1b[I", Focus(gained=True)),
        (b"\x1b[O", Focus(gained=False)),
        (b"\x1b[<0;3;5M", Mouse("press", "left", 2, 4)),
        (b"\x1b[<2;1;1m", Mouse("release", "right", 0, 0)),
        (b"\x1b[<65;10;2M", Mouse("wheel", "down", 9, 1)),
        (b"\x1b[<36;4;4M", Mouse("move", "left", 3, 3, ("shift",))),
        (b"\x1b[<35;4;4M", Mouse("move", "", 3, 3)),
        (b"\x1b]11;rgb:0000/0000/0000\x1b\\", Reply("\x1b]11;rgb:0000/0000/0000\x1b\\")),
        (b"\x1b]11;rgb:0/0/0\x07", Reply("\x1b]11;rgb:0/0/0\x07")),
        (b"\x1b[?62;4c", Reply("\x1b[?62;4c")),
        (b"\x1b[?1u", Reply("\x1b[?1u")),
        (b"\x1bP>|xterm(390)\x1b\\", Reply("\x1bP>|xterm(390)\x1b\\")),
        (b"\x1b_Gi=1;OK\x1b\\", Reply("\x1b_Gi=1;OK\x1b\\")),
    ],
)
def test_focus_mouse_and_replies_are_no_keys(sent: bytes, event: object) -> None:
    whole, pieces = Parser(), Parser()

    assert whole.feed(sent) == [event]
    assert [each for byte in sent for each in pieces.feed(bytes([byte]))] == [event]


def test_a_reply_that_comes_slowly_types_nothing() -> None:
    parser = Parser()

    assert parser.feed(b"\x1b]11;rgb:00") == []
    assert parser.flush() == []
    assert parser.feed(b"00/0/0\x07a") == [Reply("\x1b]11;rgb:0000/0/0\x07"), Key("a", "a")]


def test_what_only_looks_like_a_reply_is_typed_when_enter_is_pressed() -> None:
    parser = Parser()

    events = parser.feed(b"\x1b]1 one\r")

    assert events[0] == Key("alt+]")
    assert "".join(event.text for event in events if isinstance(event, Key)) == "1 one"
    assert events[-1] == Key("enter")


PIECES = st.sampled_from(
    [*LEGACY, *EXTENDED, b"a", "漢é".encode(), b"\x1b[200~p\x1b[201~", b"\x1b[<0;1;1M", b"\x1b[?1c"]
)
ANYTHING = st.lists(st.one_of(PIECES, st.binary(max_size=6))).map(b"".join)


@given(ANYTHING, st.data())
def test_where_the_bytes_are_cut_does_not_matter(sent: bytes, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(sent)))
    whole, pieces = Parser(), Parser()

    events = pieces.feed(sent[:cut]) + pieces.feed(sent[cut:])

    assert events + pieces.flush() == whole.feed(sent) + whole.flush()


@given(ANYTHING)
def test_flushing_leaves_nothing_to_flush(sent: bytes) -> None:
    parser = Parser()
    parser.feed(sent)

    parser.flush()

    assert not parser.pending
    assert parser.flush() == []


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])))
def test_typed_text_arrives_whole(text: str) -> None:
    events = Parser().feed(text.encode())

    assert "".join(event.text for event in events if isinstance(event, Key)) == text


@given(
    st.permutations(["ctrl", "shift", "alt", "super"]), st.integers(0, 4), st.sampled_from(["P", "esc", "pageup", "+"])
)
def test_the_order_of_modifiers_and_the_case_do_not_matter(order: list[str], count: int, key: str) -> None:
    held = order[:count]

    name = known_key("+".join([*held, key]).upper())

    assert name is not None
    assert known_key(name) == name
    assert name == known_key("+".join([*sorted(held), key]))


@for_each("name", ["", "ctrl", "hyper+a", "strg+a", "pagup", "ab", "\x01", "f25"])
def test_what_is_no_key_has_no_canonical_name(name: str) -> None:
    assert known_key(name) is None
