"""The schemas in docs/rpc are those of the code, and what pi really says is valid by them."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import pytest
from jsonschema import Draft202012Validator

import pi_hookspecs
from pi_client.commands import COMMANDS
from pi_client.events import EVENTS, UPDATES
from pi_client.fields import wire_name
from pi_client.schemas import schemas
from pi_client.values import LEVEL
from pi_hookspecs import THINKING_LEVELS, stream
from pi_testing import for_each

DOCS = Path(__file__).resolve().parents[4] / "docs" / "rpc"
RECORD = Path(__file__).with_name("conversation.jsonl")
CONVERSATION = [json.loads(line) for line in RECORD.read_text().splitlines()]
PROMPT_EVENTS = {"agent_before_settle", "before_agent_start", "input", "model_select", "thinking_level_select"}


@pytest.fixture(scope="module")
def valid():
    validators = {name: Draft202012Validator(schema) for name, schema in schemas().items()}
    return lambda name, value: validators[name].validate(value)


@pytest.mark.parametrize("name", sorted(schemas()))
def test_the_page_is_up_to_date(name):
    written = json.loads((DOCS / f"{name}.json").read_text())

    assert written == schemas()[name], "run tools/write_rpc_schemas.py"


def test_recorded_commands_are_valid(valid):
    for step in CONVERSATION:
        if step["say"].get("level") != "enormous":
            valid("commands", step["say"])


def test_recorded_answers_and_events_are_valid(valid):
    for step in CONVERSATION:
        for line in step["hear"]:
            valid("responses" if line["type"] == "response" else "events", line)


@for_each("name", sorted(COMMANDS))
def test_a_response_is_valid_for_its_own_command(name):
    """``oneOf`` alone would take the data of another command."""
    schema = next(
        each for each in schemas()["responses"]["oneOf"] if each["properties"].get("command") == {"const": name}
    )
    answers = [line for step in CONVERSATION for line in step["hear"] if line.get("command") == name]

    for answer in answers:
        assert answer["success"] is False or Draft202012Validator(schema).is_valid(answer)
    assert any(answer["success"] for answer in answers)


def fields_of(cls):
    kept = [each for each in attrs.fields(cls) if each.metadata.get("wire", True)]
    return {wire_name(each.name) + ("?" if each.default is None else "") for each in kept}


def event_classes(module_names):
    names = [name for name in dir(pi_hookspecs) if name.endswith("Event")]
    classes = [each for each in (getattr(pi_hookspecs, name) for name in names) if isinstance(each, type)]
    return {each.type: each for each in classes if each.__module__.rpartition(".")[2] in module_names}


@for_each("name", sorted(EVENTS))
def test_an_event_has_the_fields_of_its_class(name):
    cls = event_classes({"agent", "notices", "tools", "child_sessions"})[name]

    if name == "message_update":
        assert set(EVENTS[name]) == {"usage", "assistantMessageEvent"}
    else:
        assert set(EVENTS[name]) == fields_of(cls)


def test_no_event_is_missing():
    emitted = set(event_classes({"notices"})) | set(event_classes({"agent"})) - PROMPT_EVENTS

    assert emitted <= set(EVENTS)


def test_an_update_has_the_fields_of_its_class():
    classes = {each.type: each for each in map(vars(stream).get, stream.__all__) if hasattr(each, "type")}

    for name, fields in UPDATES.items():
        assert set(fields) == fields_of(classes[name]), name
    assert set(classes) == {*UPDATES, "start", "done", "error"}


def test_the_thinking_levels_are_those_of_the_contract():
    assert tuple(LEVEL.schema["enum"]) == THINKING_LEVELS
