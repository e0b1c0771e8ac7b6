"""The backend of ChatGPT plans: body, headers, account, limits."""

from __future__ import annotations

import base64
import json

import pytest

from pi_hookspecs import MissingKey, RequestFailed
from pi_provider_openai.codex import account_of, codex_base_url
from pi_testing.fake_servers import json_answer
from pi_testing.fake_servers.openai import FakeOpenAI, call, error, events, response_events, text


def token(claims):
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJub25lIn0.{body}.c2ln"


@pytest.fixture
def model(make_model):
    return make_model("openai-codex-responses", reasoning=True, id="gpt-5.5")


async def test_a_request(model, chat, payload_of, read_tool):
    body = await payload_of(model, chat.user("Hi"), system="S", tools=[read_tool], session_id="s1", reasoning="low")

    assert body["tools"][0].pop("parameters")
    assert body == {
        "model": "gpt-5.5",
        "store": False,
        "stream": True,
        "instructions": "S",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}],
        "text": {"verbosity": "medium"},
        "include": ["reasoning.encrypted_content"],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "prompt_cache_key": "s1",
        "reasoning": {"effort": "low", "summary": "auto"},
        "tools": [{"type": "function", "name": "read", "description": "Reads a file.", "strict": None}],
    }


async def test_a_request_without_a_system_prompt_still_has_instructions(model, chat, payload_of):
    body = await payload_of(model, chat.user("Hi"))

    assert body["instructions"] == "You are a helpful assistant."
    assert body["reasoning"] == {"effort": "none"}


@pytest.mark.parametrize(
    ("model_id", "level", "levels", "effort"),
    [
        ("gpt-5.2", "minimal", {}, "low"),
        ("gpt-5.5", "minimal", {"minimal": "low"}, "low"),
        ("gpt-5.1", "minimal", {}, "minimal"),
        ("gpt-5.1", "xhigh", {"xhigh": "xhigh"}, "high"),
        ("gpt-5.1-codex-max", "xhigh", {"xhigh": "xhigh"}, "xhigh"),
        ("gpt-5.1-codex-mini", "low", {}, "medium"),
        ("gpt-5.1-codex-mini", "xhigh", {"xhigh": "xhigh"}, "high"),
        ("gpt-5.3-codex", "xhigh", {"xhigh": "xhigh"}, "xhigh"),
    ],
)
async def test_efforts(make_model, chat, payload_of, model_id, level, levels, effort):
    model = make_model("openai-codex-responses", reasoning=True, id=model_id, thinking_level_map=levels)
    body = await payload_of(model, chat.user("Hi"), reasoning=level)

    assert body["reasoning"]["effort"] == effort


async def test_headers_and_answer(make_model, chat, reply):
    key = token({"https://api.openai.com/auth": {"chatgpt_account_id": "acc_1"}})
    done = response_events(text("Hi"), call("c", "read"))
    done[-1] = {**done[-1], "type": "response.done"}
    async with FakeOpenAI() as server:
        server.answers(events(done))
        model = make_model("openai-codex-responses", base_url=server.codex_url)
        message = await reply(model, chat.user("Hi"), api_key=key, session_id="s1")

    headers = server.request.headers
    assert (message.text, message.stop_reason) == ("Hi", "toolUse")
    assert server.request.path == "/backend-api/codex/responses"
    assert headers["authorization"] == f"Bearer {key}"
    assert (headers["chatgpt-account-id"], headers["originator"]) == ("acc_1", "pi")
    assert (headers["openai-beta"], headers["session-id"]) == ("responses=experimental", "s1")


@pytest.mark.parametrize("key", ["x", "a.b.c", token({}), token({"https://api.openai.com/auth": {}}), token([])])
async def test_a_token_without_an_account_is_an_error_that_does_not_show_it(make_model, chat, reply, key):
    with pytest.raises(RequestFailed, match="Failed to extract accountId from token"):
        account_of(key)
    message = await reply(make_model("openai-codex-responses"), chat.user("Hi"), api_key=key)

    assert message.error_message == "Failed to extract accountId from token. Run pi auth login openai-codex."


async def test_a_request_without_a_login_fails(make_model, chat, ask):
    with pytest.raises(MissingKey, match="No API key for provider: fake"):
        await ask(make_model("openai-codex-responses"), chat.user("Hi"), api_key=None)


async def test_a_plan_s_limit_says_when_it_is_lifted(make_model, chat, reply):
    async with FakeOpenAI() as server:
        limited = error(429, "The usage limit has been reached", kind="usage_limit_reached")
        body = json.loads(limited.body)
        body["error"]["resets_in_seconds"] = 90
        server.answers(json_answer(429, body))
        message = await reply(make_model("openai-codex-responses", base_url=server.codex_url), chat.user("Hi"))

    assert message.extra["requestFailure"] == {"status": 429, "retryAfterMs": 90_000}
    assert "Wait 90 s" in message.error_message


async def test_errors_in_the_stream_are_named(make_model, chat, reply):
    async with FakeOpenAI() as server:
        server.answers(events([{"type": "error", "code": "x", "message": "Down"}]))
        message = await reply(make_model("openai-codex-responses", base_url=server.codex_url), chat.user("Hi"))

    assert message.error_message == "Codex error: Down\nSend the prompt again, or choose another model."


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("", "https://chatgpt.com/backend-api/codex"),
        ("https://chatgpt.com/backend-api/", "https://chatgpt.com/backend-api/codex"),
        ("https://x.test/codex", "https://x.test/codex"),
        ("https://x.test/codex/responses", "https://x.test/codex"),
    ],
)
def test_base_urls(base_url, expected):
    assert codex_base_url(base_url) == expected
