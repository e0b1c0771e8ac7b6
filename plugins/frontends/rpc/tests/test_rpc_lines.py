"""What a line may be: every line is answered or is a reply to a dialog, and none ends the conversation."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from pi_client.commands import COMMANDS
from pi_rpc_kit.requests import Asked, Refused, UiReply, parse
from pi_testing import for_each

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
FIELDS = ["message", "images", "level", "mode", "enabled", "provider", "modelId", "entryId", "name", "id", "command"]
COMMAND_LIKE = st.builds(
    lambda kind, fields: {**fields, "type": kind},
    st.sampled_from([*COMMANDS, "extension_ui_response"]) | JSON,
    st.dictionaries(st.sampled_from(FIELDS), JSON),
)


@given(st.binary())
def test_no_line_is_a_bug(line):
    assert isinstance(parse(line), Asked | Refused | UiReply)


def test_a_line_for_which_there_is_no_memory_is_refused(monkeypatch):
    def refuse(*_, **__):
        raise MemoryError

    monkeypatch.setattr("json.loads", refuse)

    assert parse(b"{}") == Refused("parse", "Failed to parse command: there was not enough memory")


@given(COMMAND_LIKE | JSON)
def test_no_json_is_a_bug(value):
    parsed = parse(json.dumps(value).encode())

    assert isinstance(parsed, Asked | Refused | UiReply)
    if isinstance(value, dict) and "id" in value and not isinstance(parsed, UiReply):
        assert parsed.id == {"id": value["id"]}


@given(st.text().filter(lambda text: "\n" not in text))
def test_texts_come_through_as_they_are(message):
    parsed = parse(
        json.dumps({"type": "prompt", "message": message}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    )

    assert isinstance(parsed, Refused) or parsed.request.message == message


@for_each(
    ("line", "error"),
    [
        (b"", "Failed to parse command: Expecting value: line 1 column 1 (char 0)"),
        (b"null", "Unknown command: undefined"),
        (b"[1]", "Unknown command: undefined"),
        (b'"x"', "Unknown command: undefined"),
        (b"{}", "Unknown command: undefined"),
        (b'{"type":null}', "Unknown command: null"),
        (b'{"type":"dance"}', "Unknown command: dance"),
        (b'{"type":"prompt","message":"\xff"}', "Failed to parse command: the line is not UTF-8 at byte 28"),
        (b"[" * 100_000, "Failed to parse command: it is nested too deeply"),
        (b'{"type":NaN}', "Failed to parse command: NaN is not JSON"),
        (b'{"type":"prompt"}', "Command 'prompt' needs the field 'message', a string"),
        (b'{"type":"prompt","message":null}', "Field 'message' of command 'prompt' must be a string, not null"),
        (
            b'{"type":"set_auto_retry","enabled":1}',
            "Field 'enabled' of command 'set_auto_retry' must be true or false, not 1",
        ),
        (
            b'{"type":"set_steering_mode","mode":"some"}',
            "Field 'mode' of command 'set_steering_mode' must be 'all' or 'one-at-a-time', not \"some\"",
        ),
        (
            b'{"type":"prompt","message":"","images":[{"type":"image","data":5,"mimeType":"image/png"}]}',
            "Field 'images.0.data' of command 'prompt' must be a string, not 5",
        ),
        (b'{"type":"steer","message":"","images":{}}', "Field 'images' of command 'steer' must be a list, not {}"),
        (
            b'{"type":"extension_ui_response","id":5}',
            "Field 'id' of an 'extension_ui_response' must be the id of the request, a string, not 5",
        ),
    ],
)
def test_what_is_wrong_is_reported(line, error):
    parsed = parse(line)

    assert isinstance(parsed, Refused)
    assert parsed.error == error


def test_both_shapes_of_images_are_read():
    ours = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    older = {"type": "image", "source": {"type": "base64", "mediaType": "image/png", "data": "AAAA"}}

    first, second = (
        parse(json.dumps({"type": "prompt", "message": "", "images": [each]}).encode()) for each in (ours, older)
    )

    assert first.request == second.request


async def test_the_id_comes_back_with_its_type(talk):
    for given_id in (5, "five", 5.5, None, [5], {"a": 1}, 10**30, True):
        talk.send(id=given_id, type="abort_retry")

        assert await talk.receive() == {"id": given_id, "type": "response", "command": "abort_retry", "success": True}


async def test_only_line_feeds_end_a_line(talk):
    talk.send_line('{"type":"set_session_name","name":"a\u2028b\u2029c\x85d"}\r'.encode())

    assert (await talk.event("session_info_changed"))["name"] == "a\u2028b\u2029c\x85d"


async def test_it_goes_on_after_any_line(talk):
    for line in (b"null", b"[1]", b"", b"\xff\x00", b'{"type":{}}', b"{" * 5000, b'{"type":"fork"}'):
        talk.send_line(line)
        assert (await talk.receive())["success"] is False

    assert (await talk.call("get_state"))["success"] is True
