"""What a host is told for its bill and its routing is the same over every API that its models speak."""

from __future__ import annotations

import pytest

from pi_hookspecs import Model, StreamOptions
from pi_hookspecs.content import ImageContent, TextContent
from pi_hookspecs.messages import ToolResultMessage, UserMessage
from pi_provider_kit import host_headers

ASKED = UserMessage(content=(TextContent("Hi"),))
RESULT = ToolResultMessage(tool_call_id="c", tool_name="read", content=(ImageContent("aGk=", "image/png"),))


def at(base_url: str = "http://127.0.0.1:1", provider: str = "mine") -> Model:
    return Model(id="m", name="M", api="a", provider=provider, base_url=base_url)


IN_SESSION = StreamOptions(session_id="s1")


def test_copilot_is_told_who_asked_and_whether_there_are_images():
    model = at(provider="github-copilot")

    assert host_headers(model, [ASKED], IN_SESSION) == {"x-initiator": "user", "openai-intent": "conversation-edits"}
    assert host_headers(model, [ASKED, RESULT], IN_SESSION) == {
        "x-initiator": "agent",
        "openai-intent": "conversation-edits",
        "copilot-vision-request": "true",
    }


@pytest.mark.parametrize(
    ("provider", "base_url"),
    [
        ("opencode", "http://127.0.0.1:1"),
        ("opencode-go", "http://127.0.0.1:1"),
        ("mine", "https://opencode.ai/inference/openai/v1"),
        ("mine", "https://eu.opencode.ai"),
    ],
)
def test_opencode_gets_the_session(provider, base_url):
    model = at(base_url, provider)

    assert host_headers(model, [ASKED], IN_SESSION) == {"x-opencode-session": "s1"}
    assert host_headers(model, [ASKED], StreamOptions()) == {}


@pytest.mark.parametrize("base_url", ["https://api.openai.com/v1", "https://notopencode.ai", "http://[opencode.ai"])
def test_other_hosts_are_told_nothing(base_url):
    assert host_headers(at(base_url), [ASKED], IN_SESSION) == {}
