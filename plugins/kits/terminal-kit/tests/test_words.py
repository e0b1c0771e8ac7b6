"""Words that the front ends share."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_terminal_kit.words import (
    age,
    compacted,
    count,
    duration,
    fitting,
    is_path,
    path_end,
    session_title,
    tokens,
    width_of,
)
from pi_testing import for_each


@for_each(
    ("milliseconds", "text"),
    [
        (0, "0 s"),
        (4, "0.004 s"),
        (80, "0.08 s"),
        (404, "0.4 s"),
        (3400, "3.4 s"),
        (125_000, "2 min 5 s"),
        (3_600_000, "1 h 0 min"),
        (3_725_000, "1 h 2 min"),
    ],
)
def test_durations_have_the_units_that_count(milliseconds: int, text: str) -> None:
    assert duration(milliseconds) == text


@for_each(
    ("seconds", "text"),
    [
        *((0, "now"), (59, "now"), (60, "1m"), (3599, "59m"), (7200, "2h"), (86_400, "1d")),
        *((8 * 86_400, "1w"), (45 * 86_400, "1mo"), (800 * 86_400, "2y")),
    ],
)
def test_ages_have_one_unit(seconds: float, text: str) -> None:
    assert age(seconds) == text


@for_each(
    ("number", "text"),
    [
        *((0, "0"), (999, "999"), (1000, "1k"), (1540, "1.5k"), (8200, "8.2k"), (200_000, "200k")),
        *((999_999, "999k"), (1_000_000, "1M"), (1_540_000, "1.5M"), (12_600_000, "12M")),
    ],
)
def test_numbers_of_tokens_are_short(number: int, text: str) -> None:
    assert tokens(number) == text


def test_a_session_is_called_by_its_name_or_its_first_message_on_one_line() -> None:
    assert session_title("tides", "hello") == "tides"
    assert session_title(None, "When is\n  high water?") == "When is high water?"
    assert session_title(None, " \n") == "(no messages)"


def test_a_session_is_not_called_by_the_text_of_an_attached_file():
    attached = '<file name="/home/ada/harbour/tide.py">\ndef tide(): ...\n</file>\n'

    assert session_title(None, f"{attached}Why does it fail?") == "@tide.py Why does it fail?"
    assert session_title(None, '<file name="C:\\harbour\\log.txt">\nvery long') == "@log.txt"
    assert session_title('<file name="x">', attached) == '<file name="x">'


@for_each(
    ("message", "title"),
    [
        ("Why does it fail at noon? " + "The log has more. " * 9, "Why does it fail at noon?"),
        (
            "Hello. " + "The log has more " * 9,
            "Hello. The log has more The log has more The log has more The log has more The…",
        ),
        ("diff --git a/tide.py b/tide.py\n" + "-line\n+other line\n" * 50, None),
        ("潮はいつ満ちますか。教えてください。" * 9, "潮はいつ満ちますか。"),
        ("潮" * 800, "潮" * 79 + "…"),
        ("x" * 80, "x" * 80),
    ],
)
def test_the_title_of_a_long_message_is_its_first_sentence_or_its_first_words(message: str, title: str | None) -> None:
    made = session_title(None, message)

    assert title is None or made == title
    assert len(made) <= 80
    assert session_title(message, "hello") == " ".join(message.split())  # what the user named it stays


DIFF = (
    "diff --git a/tide.py b/tide.py\nindex 1234567..89abcde 100644\n--- a/tide.py\n+++ b/tide.py\n@@ -1 +1 @@\n-6\n+7\n"
)
LOG = "2026-11-30 09:13:00 INFO started\n2026-11-30 09:13:01 ERROR stopped\n"
ERROR = 'Traceback (most recent call last):\n  File "tide.py", line 3, in <module>\n    tide()\nValueError: no tide\n'


@for_each(
    ("message", "title"),
    [
        (f"{DIFF}\n\nIs this right?", "Is this right?"),
        (f"Is this right?\n\n{DIFF}", "Is this right?"),
        (DIFF, "Changes of tide.py"),
        (DIFF * 2 + DIFF.replace("tide", "moon"), "Changes of tide.py, moon.py"),
        (f"{LOG}\nWhy did it stop?", "Why did it stop?"),
        (f"{ERROR}\nWhat is wrong here?", "What is wrong here?"),
        ("```py\nreturn 42\n\nprint(43)\n```\nExplain this.", "Explain this."),
        ('{\n  "high": 6\n}\n\nAdd the moon.', "Add the moon."),
        ("- the tide\n- the moon", "- the tide - the moon"),
        ("Fix these:\n- the tide\n- the moon", "Fix these: - the tide - the moon"),
        ("# The harbour\n\nWrite about it.", "# The harbour"),
    ],
)
def test_the_title_is_what_a_person_asks_not_what_a_program_wrote(message: str, title: str) -> None:
    assert session_title(None, message) == title


def test_numbers_have_their_things() -> None:
    assert (count(1, "message"), count(1200, "message")) == ("1 message", "1,200 messages")
    assert compacted(12345) == "Compacted from 12,345 tokens"
    assert compacted(12345, 3200) == "Compacted from 12,345 to 3,200 tokens"


@for_each(
    ("path", "width", "short"),
    [
        ("~/tide", 10, "~/tide"),
        ("~/code/harbour/tide", 10, "…/tide"),
        ("~/code/harbour/tide", 14, "…/harbour/tide"),
        ("/a-very-long-name", 8, "…ng-name"),
        ("/tide/", 3, "…/"),
        ("/tide", 1, "…"),
        ("/tide", 0, ""),
    ],
)
def test_a_long_path_keeps_its_end(path: str, width: int, short: str) -> None:
    assert path_end(path, width) == short


@given(st.text("ab/漢", max_size=12), st.integers(0, 14))
def test_a_shortened_path_fits(path: str, width: int) -> None:
    def cells(text: str) -> int:
        return sum(2 if each == "漢" else 1 for each in text)

    assert cells(path_end(path, width, cells)) <= width


def test_paths_are_recognised_by_their_beginning() -> None:
    assert [is_path(each) for each in ("/tide", "~/tide", "tide/x", "~", "")] == [True, True, False, False, False]


@for_each(
    ("text", "columns"),
    [
        ("❤️", 2),
        ("1️⃣", 2),
        ("👍🏽", 2),
        ("👨‍👩‍👧", 2),
        ("⚠️ warn", 7),
        ("日本語", 6),
        ("e\u0301", 1),
        ("a\x07\tb", 2),
        ("", 0),
    ],
)
def test_a_line_is_as_wide_as_a_terminal_shows_it(text: str, columns: int) -> None:
    assert width_of(text) == columns


@given(st.text(st.sampled_from("ab 日👍🏽👨‍👩‍👧\u200d\ufe0f\u0301"), max_size=30), st.integers(-1, 30))
def test_what_fits_is_as_much_as_possible_in_whole_clusters(text: str, columns: int) -> None:
    from wcwidth import iter_graphemes

    clusters = [*iter_graphemes(text)]
    starts = [len("".join(clusters[:number])) for number in range(len(clusters) + 1)]

    end = fitting(text, columns)

    assert end in starts
    assert width_of(text[:end]) <= max(columns, 0)
    assert end == len(text) or width_of(text[: starts[starts.index(end) + 1]]) > columns
