"""What the model's process does apart from llama.cpp: memory, grammars, prompts, and calls in the text of an answer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import UserError
from pi_provider_llamacpp.engine.calls import CallSplitter
from pi_provider_llamacpp.engine.conversation import to_plain
from pi_provider_llamacpp.engine.model import check_memory, needed_bytes
from pi_provider_llamacpp.engine.schemas import grammar_schema
from pi_provider_llamacpp.engine.syntax import Syntax, syntax_of
from pi_provider_llamacpp.gguf import Header
from pi_testing import for_each

SIZES = Header(architecture="llama", layers=32, cache_width=2048)
PLAIN, MARKED = Syntax(marked=False), Syntax(marked=True)
READ = {"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": {"type": "object"}}}

# Memory


def test_a_model_needs_its_file_and_its_window():
    assert needed_bytes(SIZES, 5_000_000_000, 8192) == 5_000_000_000 + 32 * 2048 * 2 * 8192 + (150 << 20)


def test_a_model_that_fits_is_no_error():
    check_memory("a.gguf", SIZES, 5_000_000_000, 8192, 7_000_000_000)


def test_too_large_a_window_says_which_would_fit():
    with pytest.raises(UserError, match=r"'a\.gguf': it needs about 9\.5 GB .* and 7\.0 GB are free") as caught:
        check_memory("a.gguf", SIZES, 5_000_000_000, 32_768, 7_000_000_000)

    assert "llamacpp.contextTokens to 13824" in str(caught.value)
    check_memory("a.gguf", SIZES, 5_000_000_000, 13_824, 7_000_000_000)


def test_too_large_a_file_says_to_use_another():
    with pytest.raises(UserError, match="use a smaller model"):
        check_memory("a.gguf", SIZES, 70_000_000_000, 8192, 7_000_000_000)


# Grammars


@for_each(
    "schema",
    [
        None,
        [],
        {"type": "string"},
        {"type": "object", "properties": {"a": {"type": "weird"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}},
        {"type": "object", "properties": {"a": {"$ref": "https://example.com/schema"}}},
    ],
)
def test_a_schema_that_would_break_the_grammar_becomes_that_of_any_object(schema):
    assert {key: value for key, value in grammar_schema(schema).items() if key != "x-guidance"} == {"type": "object"}


def test_a_schema_keeps_what_the_grammar_can_say():
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"type": "string", "pattern": "^(?=x)"}},
        "$defs": {"n": {"type": "integer", "minimum": 3}},
    }

    narrowed = grammar_schema(schema)

    assert narrowed["$defs"] == schema["$defs"]
    assert narrowed["properties"] == {"a": {"$ref": "#/$defs/n"}, "b": {"type": "string"}}


def test_a_pattern_as_the_name_of_a_property_is_kept():
    schema = {"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]}

    assert grammar_schema(schema)["properties"] == schema["properties"]


def test_a_template_with_marks_or_thinking_gets_marked_calls():
    assert syntax_of("...<tool_call>...").marked
    assert syntax_of("...<think>...").marked
    assert not syntax_of("{{ messages }}").marked
    assert not syntax_of("{{ raise_exception('System role not supported') }}").has_system


# Requests


def test_tools_calls_and_results_become_text():
    call = {"id": "1", "type": "function", "function": {"name": "read", "arguments": '{"path":"a"}'}}
    payload = {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Read a."},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "name": "read", "content": "text of a"},
            {"role": "user", "content": "And?"},
        ],
        "tools": [READ],
        "temperature": 0,
    }

    plain = to_plain(payload, PLAIN)

    system, user, answer, result = plain["messages"]
    assert system["content"].startswith("Be brief.\n\n# Tools")
    assert '"name": "read"' in system["content"]
    assert user == {"role": "user", "content": "Read a."}
    assert answer["content"] == '{"name": "read", "arguments": {"path":"a"}}'
    assert result == {"role": "user", "content": "Result of read:\ntext of a\n\nAnd?"}
    assert plain["grammar"].startswith("%llguidance {}\nstart: TEXT | call0\n")
    assert {"tools", "tool_choice"}.isdisjoint(plain)
    assert plain["temperature"] == 0


def test_marked_calls_look_as_the_model_has_learned_them():
    call = {"id": "1", "function": {"name": "read", "arguments": "{}"}}
    messages = [
        {"role": "assistant", "content": "Let me look.", "tool_calls": [call]},
        {"role": "tool", "name": "read", "content": "text"},
    ]

    plain = to_plain({"messages": messages, "tools": [READ]}, MARKED)

    assert plain["messages"][1]["content"] == (
        'Let me look.\n<tool_call>\n{"name": "read", "arguments": {}}\n</tool_call>'
    )
    assert plain["messages"][2]["content"] == "<tool_response>\ntext\n</tool_response>"


@for_each(
    ("choice", "start"),
    [
        (None, "start: TEXT | call0 | call1"),
        ("auto", "start: TEXT | call0 | call1"),
        ("required", "start: call0 | call1"),
        ({"type": "any"}, "start: call0 | call1"),
        ({"type": "function", "function": {"name": "ls"}}, "start: call0"),
    ],
)
def test_a_choice_of_tools_is_in_the_grammar(choice, start):
    other = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}
    payload = {"messages": [], "tools": [READ, other], "tool_choice": choice}

    assert to_plain(payload, PLAIN)["grammar"].splitlines()[1] == start


def test_no_tool_may_be_chosen_and_then_there_is_no_grammar():
    plain = to_plain({"messages": [], "tools": [READ], "tool_choice": "none"}, PLAIN)

    assert plain == {"messages": []}


def test_an_output_schema_is_the_grammar_of_the_answer():
    plain = to_plain({"messages": [], "output": {"type": "object"}}, PLAIN)

    assert plain["grammar"].startswith("%llguidance {}\nstart: %json {")


def test_a_template_without_a_system_role_gets_a_user_message():
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]

    plain = to_plain({"messages": messages}, Syntax(marked=False, has_system=False))

    assert plain["messages"] == [{"role": "user", "content": "Be brief.\n\nHi"}]


# Calls in answers


def split(text, sizes, *, marked):
    splitter, pieces, rest = CallSplitter(marked=marked), [], text
    for size in [*sizes, len(text)]:
        pieces += splitter.feed(rest[:size])
        rest = rest[size:]
    pieces += splitter.end()
    joined = []
    for kind, piece in pieces:
        if joined and joined[-1][0] == kind != "call":
            joined[-1] = (kind, joined[-1][1] + piece)
        else:
            joined.append((kind, piece))
    return joined


sizes = st.lists(st.integers(1, 9), max_size=40)
values = st.recursive(
    st.none() | st.integers() | st.text(max_size=20),
    lambda inner: st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(arguments=st.dictionaries(st.text(max_size=8), values, max_size=4), sizes=sizes, marked=st.booleans())
def test_a_call_is_found_however_it_is_cut(arguments, sizes, marked):
    written = json.dumps(arguments, ensure_ascii=False)
    text = Syntax(marked=marked).call('re"ad', written)

    assert split(text, sizes, marked=marked) == [("call", 're"ad'), ("arguments", written)]


@given(text=st.text(alphabet='ab<>_tol{}" \n', max_size=60), sizes=sizes)
def test_text_without_a_call_is_all_there(text, sizes):
    for marked in (True, False):
        assert "".join(piece for _, piece in split(text, sizes, marked=marked)) == text


@given(sizes=sizes)
def test_marked_calls_follow_text_and_each_other(sizes):
    one, two = (MARKED.call(name, '{"a": "</tool_call>"}') for name in ("read", "ls"))

    assert split(f"Let me < look.\n{one}\n{two}", sizes, marked=True) == [
        ("text", "Let me < look.\n"),
        ("call", "read"),
        ("arguments", '{"a": "</tool_call>"}'),
        ("call", "ls"),
        ("arguments", '{"a": "</tool_call>"}'),
    ]


def test_half_a_call_keeps_its_half():
    assert split('{"name": "read", "arguments": {"pa', [], marked=False) == [("call", "read"), ("arguments", '{"pa')]
