"""Tool arguments: half received, almost JSON, or written into the text."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from pi_provider_kit import (
    PartialJson,
    generated_calls,
    parallel_calls,
    repair_arguments,
)
from pi_testing import for_each

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)


# Half received


@for_each(
    ("text", "value"),
    [
        ('{"path": "a.p', {"path": "a.p"}),
        ('{"path": "a.py", "lim', {"path": "a.py"}),
        ('{"edits": [{"oldText": "x"}, {"old', {"edits": [{"oldText": "x"}, {}]}),
        ("", {}),
        ("[1", {}),
        ("nonsense", {}),
        ('{"a": "\ud800', {"a": "?"}),
    ],
)
def test_what_can_be_read_is_read(text, value):
    assert PartialJson()(text) == value


def test_looking_twice_parses_once():
    partial = PartialJson()
    text = '{"a": [1'
    first = partial(text)

    assert partial(text[:4] + text[4:]) is first
    assert partial('{"a": [1, 2') == {"a": [1, 2]}


@given(OBJECTS, st.integers(min_value=0))
def test_no_beginning_of_an_object_raises(value, place):
    text = json.dumps(value, ensure_ascii=False)

    assert isinstance(PartialJson()(text[: place % (len(text) + 1)]), dict)
    assert PartialJson()(text) == value


# Almost JSON


@for_each(
    ("text", "value", "note"),
    [
        ('{"a": 1,}', {"a": 1}, "a trailing comma"),
        ('{"a": [1, 2,], }', {"a": [1, 2]}, "a trailing comma"),
        ('{"a": "one\ntwo\tthree"}', {"a": "one\ntwo\tthree"}, "raw line breaks in a string, raw tabs in a string"),
        ("{'a': True, 'b': None, 'c': False}", {"a": True, "b": None, "c": False}, "single quotes, Python literals"),
        ("""{'say': "it's"}""", {"say": "it's"}, "single quotes"),
        (r"{'say': 'it\'s é 😀'}", {"say": "it's é 😀"}, "single quotes"),
        ('{path: "a.py"}', {"path": "a.py"}, "keys without quotes"),
        ('```json\n{"a": 1}\n```', {"a": 1}, "a code fence"),
        (r'"{\"a\": 1}"', {"a": 1}, "an object inside a string"),
        ('{}{"a": 1}', {"a": 1}, "an empty object before the arguments"),
        ('{"a": 1}}', {"a": 1}, "surplus brackets"),
        (
            "<parameter=path>\na.py\n</parameter>\n<parameter=limit>5</parameter>",
            {"path": "a.py", "limit": "5"},
            "parameters written as XML elements",
        ),
        ('<parameter name="path">a.py</parameter>', {"path": "a.py"}, "parameters written as XML elements"),
    ],
)
def test_what_was_meant_without_a_doubt_is_repaired(text, value, note):
    assert repair_arguments(text) == (value, f"Repaired the arguments: {note}")


@for_each(
    "text",
    [
        "",
        "   ",
        "nonsense",
        "[1, 2]",
        '"just text"',
        '{"command": "rm -rf /tmp',  # an open string: what would it have become?
        '{"command": "rm -rf /tmp"',
        '{"a": [1, 2',
        '{"a": 1, "b',
        '{"a": 1 "b": 2}',
        '{"a": "say "hi" now"}',
        '{"a": 1, "a": 2,}',
        '{"a": 1}{"a": 2}',
        '{"a": undefined}',
        '{"a": 012,}',
        '{"a": 1_000,}',
        "{,}",
        '{"a":,}',
        '{"a": 1,,}',
        '{"a": [,]}',
        '{"a": 1} and then',
        "<parameter=path>a.py",
        "<parameter=path>a</parameter><parameter=path>b</parameter>",
        "<parameter=a><parameter=b>x</parameter></parameter>",
        "{" * 5000,
        '{"a":' + "[" * 5000,
        '{"a": ' + "9" * 5000 + ",}",
    ],
)
def test_what_is_not_certain_stays_an_error(text):
    assert repair_arguments(text) is None


@given(OBJECTS)
def test_python_s_way_of_writing_is_read_as_it_was_meant(value):
    text = repr(value)

    repaired = repair_arguments(text)

    if repaired is not None and not re.search(r"\\[xuU]", text):  # escapes that JSON has not, or reads otherwise
        assert repaired[0] == value
    if repaired is None:
        assert any(escape in text for escape in ("\\x", "\\U", "\\u", "e+", "inf"))


@given(OBJECTS)
def test_raw_line_breaks_and_trailing_commas_give_back_the_object(value):
    text = json.dumps(value, indent=1, ensure_ascii=False)
    broken = text.replace("\n}", ",\n}").replace("\\n", "\n") if value else text

    repaired = repair_arguments(broken)

    if value and "\\" not in text.replace("\\n", ""):
        assert repaired is not None
        assert repaired[0] == value


@given(OBJECTS, st.integers(min_value=0))
def test_a_cut_object_is_never_made_whole(value, place):
    text = json.dumps(value)
    cut = text[: place % len(text)]

    assert repair_arguments(cut) is None


@given(st.text(alphabet="{}[]\"',:\\ntTrueNone1.-e \n<parameter=a>/", max_size=30))
def test_repair_never_raises(text):
    repair_arguments(text)


def test_single_backslashes_are_taken_as_they_are():
    text = r'{"text": "\usepackage{x} \d+ C:\Windows \" \\ \n é"}'

    arguments, note = repair_arguments(text)

    assert arguments == {"text": '\\usepackage{x} \\d+ C:\\Windows " \\ \n é'}
    assert "single backslashes" in note


@for_each(
    "sent",
    [
        ('{"a": 1}', '{"a": 1}'),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}', '{"a": {"b": 1}}'),
        ("{", '{"a": 1}'),
        ('{"a', '{"a": {"b', '{"a": {"b": 1}}'),
        ('{"a": 1}', "\n", '{"a": 1}'),
    ],
)
def test_arguments_that_were_sent_again_are_taken_once(sent):
    assert repair_arguments("".join(sent))[0] == json.loads(sent[-1])


@for_each("text", ['{"a": 1}{"a": 2}', '{"a": 1{"b": 2}', '{"a": 1}{"a": 1', '{"a": 1}x{"a": 1}'])
def test_two_different_objects_are_ambiguous(text):
    assert repair_arguments(text) is None


@for_each("text", ["[]", '""'])
def test_an_empty_list_or_text_is_an_empty_object(text):
    assert repair_arguments(text)[0] == {}


TOOLS = {"read": {}, "bash": {}}


@for_each(
    ("text", "calls"),
    [
        (
            '{"tool_uses": [{"recipient_name": "functions.bash", "parameters": {"command": "ls"}}]}',
            [("bash", {"command": "ls"})],
        ),
        ('{"tool_uses": [{"recipient_name": "bash"}, {"recipient_name": "read"}]}', [("bash", {}), ("read", {})]),
        ('{"tool_uses": [{"recipient_name": "functions.bash"}, {"recipient_name": "functions.none"}]}', None),
        *((text, None) for text in ('{"tool_uses": []}', "{}", "[]", "", "{", '{"tool_uses": [1, null]}')),
    ],
)
def test_several_calls_in_one(text, calls):
    assert parallel_calls("multi_tool_use.parallel", text, TOOLS) == calls
    assert parallel_calls("bash", text, TOOLS) is None
    assert parallel_calls("parallel", text, {**TOOLS, "parallel": {}}) is None


@given(st.text(alphabet='<>{}[]"=/:functionstool_call|begin ', max_size=40))
def test_reading_a_failed_generation_never_raises(text):
    generated_calls(text)
