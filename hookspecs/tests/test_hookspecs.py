"""A hook specification documents itself, and says how its answers combine."""

from __future__ import annotations

import inspect

import attrs

import pi_hookspecs
from pi_hookspecs import Answers, OnFailure, Rule, answers_of
from pi_hookspecs.specs import EVENT_STAGES, all_hookspecs
from pi_testing import for_each

ALL = all_hookspecs()
EVENTS = {name: spec for name, spec in ALL.items() if answers_of(spec) is not None}

DOCUMENT_000 = """agent_start agent_end turn_start turn_end tool_call tool_result input before_agent_start session_start
    session_shutdown session_before_switch session_switch session_before_compact session_compact session_before_fork
    session_before_tree model_select resources_discover""".split()
DOCUMENT_001 = """session_start session_shutdown session_before_switch session_before_fork session_before_compact
    session_before_tree session_compact session_tree context before_agent_start before_provider_request
    after_provider_response agent_start agent_end turn_start turn_end message_start message_update message_end
    tool_execution_start tool_execution_update tool_execution_end tool_call tool_result input user_bash model_select
    thinking_level_select resources_discover""".split()
PLAIN = ("session_before_append",)
"""Event hooks that are called where nothing can be awaited."""


def result_type(spec):
    name = spec.__annotations__["return"].split("|")[0].strip()
    return None if name in ("None", "Any") or name.startswith("Mapping[") else getattr(pi_hookspecs, name)


@for_each("name", sorted({*DOCUMENT_000, *DOCUMENT_001, "agent_before_settle", "agent_settled"}))
def test_every_event_of_the_documents_is_a_hook(name):
    assert name in EVENTS


def test_document_001_has_29_events():
    assert len(DOCUMENT_001) == 29


@for_each("spec", ALL.values())
def test_a_hook_documents_when_it_runs_and_how_answers_combine(spec):
    text = inspect.getdoc(spec) or ""

    assert all(label in text for label in ("When:", "Answers:", "On error:", "Since: 1."))


@for_each("spec", EVENTS.values())
def test_an_event_hook_takes_event_and_ctx_and_may_be_async(spec):
    assert list(inspect.signature(spec).parameters) == ["event", "ctx"]
    assert inspect.iscoroutinefunction(spec) is (spec.__name__ not in PLAIN)


@for_each("name", EVENTS)
def test_the_event_is_named_after_the_hook(name):
    event = getattr(pi_hookspecs, EVENTS[name].__annotations__["event"])

    assert event.type == name


@for_each("spec", EVENTS.values())
def test_the_rules_name_fields_of_the_result(spec):
    declared, result = answers_of(spec), result_type(spec)

    assert isinstance(declared, Answers)
    if declared.fields:
        assert set(declared.fields) <= {field.name for field in attrs.fields(result)}
    else:
        assert declared.whole is not None


@for_each("spec", EVENTS.values())
def test_the_docstring_names_the_rule(spec):
    declared = answers_of(spec)
    rules = {declared.whole} if declared.whole else set(declared.fields.values())
    answers = inspect.getdoc(spec).split("Answers:")[1].split("On error:")[0]
    words = {Rule.VETO: ("veto", "ends the prompt"), Rule.COLLECT: ("collect",), Rule.PIPE: ("pipe",)}

    for rule in rules:
        assert any(word in answers for word in words.get(rule, (rule.value,))), rule


def test_only_guards_refuse_when_they_fail():
    refusing = {name for name, spec in EVENTS.items() if answers_of(spec).on_failure is OnFailure.REFUSE}

    assert refusing == {"before_model_request", "session_before_append", "tool_call", "user_bash", "child_environment"}


def test_registration_hooks_are_plain_functions():
    registrations = set(ALL) - set(EVENTS)

    assert len(registrations) == 20
    assert not any(inspect.iscoroutinefunction(ALL[name]) for name in registrations)
    assert "registration" not in EVENT_STAGES
