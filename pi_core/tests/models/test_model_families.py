"""An id that no catalogue has is taken for the next of its family."""

from __future__ import annotations

import pytest

from pi_core.models.families import nearest_of_family
from pi_hookspecs import Model

CLAUDE = (
    "claude-fable-5",
    "claude-haiku-4-5-20251001",
    "claude-opus-4-8",
    "claude-opus-5",
    "claude-opus-5-5",
    "claude-sonnet-5",
)
GPT = ("gpt-5.5", "gpt-6-luna", "gpt-6-sol", "gpt-6.1-sol", "gpt-6.2-sol", "o1", "o3-mini", "codex-mini-latest")
HOST = ("anthropic/claude-opus-5", "moonshotai/kimi-k2.7-code", "moonshotai/kimi-k3", "qwen/qwen3.8-max")


def models(ids):
    return [Model(id=each, name=each, api="chat", provider="acme") for each in ids]


@pytest.mark.parametrize(
    ("listed", "model_id", "expected"),
    [
        (CLAUDE, "claude-opus-6", "claude-opus-5-5"),
        (CLAUDE, "claude-opus-5-5-20261201", "claude-opus-5-5"),
        (CLAUDE, "claude-opus-4-1", "claude-opus-4-8"),
        (CLAUDE, "Claude-Haiku-5", "claude-haiku-4-5-20251001"),
        (CLAUDE, "claude-opus-latest", "claude-opus-4-8"),
        (GPT, "gpt-6.3-sol", "gpt-6.2-sol"),
        (GPT, "gpt-6.0.5-sol", "gpt-6-sol"),
        (GPT, "gpt-7", "gpt-5.5"),
        (GPT, "o4-mini", "o3-mini"),
        (GPT, "gpt-6.3-nova", "gpt-5.5"),
        (HOST, "moonshotai/kimi-k3.1", "moonshotai/kimi-k3"),
        (HOST, "moonshotai/kimi-k2.8-code", "moonshotai/kimi-k2.7-code"),
        (HOST, "other/kimi-k3.1", None),
        (GPT, "whisper-3", None),
        (GPT, "4711", None),
        ((), "gpt-6", None),
    ],
)
def test_an_id_is_next_to_the_last_version_before_it(listed, model_id, expected):
    found = nearest_of_family(model_id, models(listed))

    assert (None if found is None else found.id) == expected
