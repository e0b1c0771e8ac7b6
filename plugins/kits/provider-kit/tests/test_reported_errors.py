"""Errors within an answer, in the JSON of gateways, frameworks and proxies."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_provider_kit import answer_failure, ending_of, error_event, is_filter, reported_error, reported_status

SHAPES = (
    {"error": {"message": "no room"}},
    {"error": "no room"},
    {"error": {"error": {"message": "no room", "code": 503}}},
    {"errors": [{"message": "no room"}]},
    {"error_message": "no room"},
    {"errorMessage": "no room", "errorCode": 7},
    {"error_msg": "no room"},
    {"detail": "no room"},
    {"detail": [{"loc": ["body"], "msg": "no room"}]},
    {"object": "error", "message": "no room"},
    {"type": "error", "error": {"type": "overloaded_error", "message": "no room"}},
    {"type": "error", "message": "no room"},
    {"status": "error", "msg": "no room"},
    {"code": 1302, "message": "no room"},
    {"message": "no room"},
    {"Message": "no room"},
    {"error": True, "message": "no room"},
    {"error": "overloaded", "message": "no room"},
    {"base_resp": {"status_code": 1008, "status_msg": "no room"}},
    {"fault": {"faultstring": "no room"}},
    {"type": "about:blank", "title": "no room", "status": 503},
    {"status": "failed", "reason": "no room"},
    {"success": False, "info": "no room"},
)


@pytest.mark.parametrize("event", SHAPES, ids=json.dumps)
def test_an_error_is_found_with_its_text(event):
    assert "no room" in json.dumps(reported_error(event, {"choices"}))


@pytest.mark.parametrize(
    "event",
    [
        {"choices": [], "error": None},
        {"choices": [], "error": {}},
        {"choices": [], "message": "hello"},
        {"choices": [], "base_resp": {"status_code": 0, "status_msg": "success"}},
        {"choices": [], "error": {"code": None, "message": ""}},
        {"code": 0, "message": "success"},
        {"choices": [], "status": "failed"},
        {"success": True},
        {"message": {"role": "assistant"}, "choices": []},
        {"object": "chat.completion.chunk"},
        {},
        None,
        [],
        "text",
    ],
    ids=repr,
)
def test_what_is_fine_is_no_error(event):
    assert reported_error(event, {"choices"}) is None


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"code": 429}, 429),
        ({"code": "503"}, 503),
        ({"status_code": 529, "code": "busy"}, 529),
        ({"type": "overloaded_error"}, 529),
        ({"error": {"error": {"code": 502}}}, 502),
        ({"code": "context_length_exceeded"}, 400),
        ({"code": 200}, None),
        ({"code": True}, None),
        ({"message": "at 503"}, None),
        ("503", None),
    ],
)
def test_the_status_of_an_error(error, status):
    assert reported_status(error) == status


def test_a_filter_is_told_from_a_failure():
    assert is_filter({"error": {"code": "content_filter"}})
    assert is_filter({"type": "SAFETY"})
    assert not is_filter({"code": "server_error", "message": "safety first"})


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b'{"error": {"code": 1}}', {"code": 1}),
        (b'{"detail": "no room"}', {"detail": "no room"}),
        (b"no room\n", "no room"),
        (b'"no room"', "no room"),
        (b"null", "The server sent null in place of an answer"),
        (b"[]", "The server sent [] in place of an answer"),
        (b"\xe9", "�"),
    ],
)
def test_an_event_named_error_becomes_the_shape_that_readers_know(data, error):
    assert json.loads(error_event(data)) == {"error": error}


@pytest.mark.parametrize(
    ("word", "ending"),
    [
        *(
            (word, "stop")
            for word in ("STOP", "end_turn", "eos", "eos_token", "stop_sequence", "Stop-Token", "<EOS>"[1:4])
        ),
        *(
            (word, "length")
            for word in ("MAX_TOKENS", "maxTokens", "max_output_tokens", "model_length", "context_length")
        ),
        *((word, "length") for word in ("model_context_window_exceeded", "token limit", "truncated", "max_length")),
        *((word, "toolUse") for word in ("tool_use", "TOOL_CALLS", "toolUse", "function_call", "tool-calls")),
        *(
            (word, "filtered")
            for word in ("content_filter", "SAFETY", "PROHIBITED_CONTENT", "guardrail_intervened", "refusal")
        ),
        *(
            (word, "failed")
            for word in ("error", "insufficient_system_resource", "network_error", "aborted", "cancelled")
        ),
        *((word, "failed") for word in ("timeout", "engine_overloaded", "MALFORMED_FUNCTION_CALL")),
        *((word, "") for word in ("null", "None", "", "FINISH_REASON_UNSPECIFIED")),
        ("halted by moonlight", "unknown"),
    ],
)
def test_a_word_for_the_end(word, ending):
    assert ending_of(word) == ending


@given(st.text(max_size=40))
def test_any_word_has_a_meaning(word):
    assert isinstance(ending_of(word), str)


def test_a_body_with_status_200_has_the_status_and_the_kind_of_its_error():
    busy = answer_failure(200, {"content-type": "application/json"}, b'{"error": {"code": 429, "message": "slow"}}')
    filtered = answer_failure(200, {}, b'[{"error": {"code": "content_filter"}}]')
    page = answer_failure(200, {"content-type": "application/json"}, b'{"models": []}')

    assert (busy.kind, busy.status) == ("event", 429)
    assert (filtered.kind, filtered.status) == ("filtered", 200)
    assert (page.kind, page.status) == ("unexpected", 200)
