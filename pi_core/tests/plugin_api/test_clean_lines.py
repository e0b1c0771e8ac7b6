"""Lines for other programs: no secret in them, whichever way a text is cut into deltas, and nothing else lost."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core.plugin_api.clean_lines import CleanLines
from pi_hookspecs import PiError

KEY = "ghp_" + "a1B2" * 9


def clean(text):
    return text.replace(KEY, "[secret]")


def update(kind, **fields):
    return {"type": "message_update", "usage": {}, "assistantMessageEvent": {"type": kind, "contentIndex": 0, **fields}}


def written(events, lines=None):
    lines = lines or CleanLines(clean)
    return [json.loads(line) for event in events for line in lines.of(json.dumps(event).encode())]


def deltas(events):
    inner = [each["assistantMessageEvent"] for each in events if each["type"] == "message_update"]
    return "".join(each["delta"] for each in inner if each["type"] == "text_delta")


@given(st.lists(st.sampled_from([KEY, " ", "word ", "\n", "x" * 300]), max_size=8), st.randoms())
def test_deltas_add_up_to_the_text_without_secrets(parts, chance):
    whole, events = "".join(parts), [update("text_start")]
    rest = whole
    while rest:
        cut = chance.choice((1, 5, 100))
        events += [update("text_delta", delta=rest[:cut]), {"type": "queue_update", "steering": []}]
        rest = rest[cut:]
    found = written([*events, update("text_end", content=whole)])

    assert deltas(found) == clean(whole)
    assert found[-1]["assistantMessageEvent"]["content"] == clean(whole)
    assert KEY not in json.dumps(found)


def test_the_message_so_far_ends_where_the_deltas_end():
    text = f"{'word ' * 60}{KEY[:20]}"
    partial = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    found = written([{**update("text_delta", delta=text, partial=partial), "message": partial}])

    (event,) = found
    assert KEY[:20] not in json.dumps(event)
    assert event["message"]["content"][0]["text"] == event["assistantMessageEvent"]["delta"]


def test_the_output_of_a_command_is_complete_before_its_answer():
    lines = CleanLines(clean)
    events = [{"type": "bash_execution_update", "id": "1", "delta": f"a {KEY[:9]}"}]
    events += [{"type": "bash_execution_update", "id": "1", "delta": f"{KEY[9:]} b\n"}]
    found = written([*events, {"type": "response", "id": "1", "data": {"output": f"a {KEY} b\n"}}], lines)

    assert [each.get("delta") for each in found] == ["a [secret] b\n", None]
    assert found[-1]["data"]["output"] == "a [secret] b\n"


def test_a_result_that_grows_does_not_end_inside_of_a_secret():
    result = {"content": [{"type": "text", "text": f"{'word ' * 60}{KEY[:20]}"}]}
    (found,) = written([{"type": "tool_execution_update", "toolCallId": "1", "partialResult": result}])

    assert KEY[:20] not in json.dumps(found)
    assert "word word" in json.dumps(found)


def test_a_plugin_that_fails_leaves_texts_out():
    def fails(text):
        message = "broken"
        raise PiError(message)

    (found,) = written([{"type": "notice", "id": "7", "text": KEY}], CleanLines(fails))

    assert KEY not in json.dumps(found)
    assert found["id"] == "7"


@pytest.mark.parametrize("kind", ["message_start", "message_end"])
def test_an_aborted_text_leaves_nothing_for_the_next_message(kind):
    lines = CleanLines(clean)
    written([update("text_delta", delta="held back")], lines)
    written([{"type": kind, "message": {}}], lines)

    assert deltas(written([update("text_delta", delta="fresh"), update("text_end", content="fresh")], lines)) == "fresh"
