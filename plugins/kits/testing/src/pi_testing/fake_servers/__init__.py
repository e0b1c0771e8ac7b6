"""Model servers on the loopback interface: their common parts; each wire format has a separate module.

``pi_testing.fake_servers.anthropic`` speaks Messages, ``.openai`` Completions and Responses, ``.google`` the Gemini
API, Vertex AI and Cloud Code Assist, ``.mistral`` Mistral's chat API, ``.bedrock`` Bedrock's ConverseStream; ``.oauth``
is what logins ask. Such a module has a server that refuses what the real API refuses, and functions that make whole
answers; the vendor's own client proves it in the tests of the provider.
"""

from __future__ import annotations

from pi_testing.fake_servers.server import (
    Answer,
    FakeServer,
    Request,
    closed_url,
    html_page,
    json_answer,
    redirect,
    silence,
    sse,
    sse_event,
)

__all__ = [
    "Answer",
    "FakeServer",
    "Request",
    "closed_url",
    "html_page",
    "json_answer",
    "redirect",
    "silence",
    "sse",
    "sse_event",
]
