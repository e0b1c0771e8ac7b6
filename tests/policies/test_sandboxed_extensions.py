"""Extensions of the original in the sandbox: their process lacks keys, but for those that their providers name."""

from __future__ import annotations

import json
import shutil

import pytest

from pi_sandbox.engine import try_engine
from pi_testing import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.pi(entry_points=["isolated", "typescript", "sandbox"], settings={"sandbox": {"mode": "bwrap"}}),
    pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js"),
    pytest.mark.skipif(try_engine("bwrap") is not None, reason="needs bubblewrap"),
]

PROVIDER = """
import { writeFileSync } from "node:fs";

const keys = ["ECHO_API_KEY", "ECHO_TEAM_TOKEN", "OTHER_API_KEY"];
const atLoad = keys.map((name) => process.env[name] ?? null);
const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 3,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };

function isConfined() {
  try {
    writeFileSync("/usr/written-by-echo", "");
    return false;
  } catch {
    return true;
  }
}

async function* streamSimple(model, context, { apiKey }) {
  const found = { apiKey, atLoad, now: keys.map((name) => process.env[name] ?? null), isConfined: isConfined() };
  const content = [{ type: "text", text: JSON.stringify(found) }];
  const message = { role: "assistant", api: model.api, provider: model.provider, model: model.id, usage, content,
    stopReason: "stop", timestamp: Date.now() };
  yield { type: "start", partial: message };
  yield { type: "done", reason: "stop", message };
}

export default (pi) => pi.registerProvider("echo", {
  baseUrl: "http://127.0.0.1:9", apiKey: "ECHO_API_KEY", headers: { team: "t ${ECHO_TEAM_TOKEN}" }, api: "echo-api",
  streamSimple,
  models: [{ id: "echo-1", name: "Echo 1", reasoning: false, input: ["text"], contextWindow: 1000, maxTokens: 100,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }],
});
"""


@pytest.fixture
def pi_extensions(tmp_path, monkeypatch):
    """An extension in the project, because the sandbox hides other folders for temporary files."""
    for name in ("ECHO_API_KEY", "ECHO_TEAM_TOKEN", "OTHER_API_KEY"):
        monkeypatch.setenv(name, f"{name.lower()}-0123456789abcdef")
    file = tmp_path / "echo.mjs"
    file.write_text(PROVIDER)
    return [file]


async def test_a_provider_gets_the_keys_that_it_names_and_no_others(pi_session):
    key, token = "echo_api_key-0123456789abcdef", "echo_team_token-0123456789abcdef"
    for _known in range(2):  # an extension that is not known yet, and one that is
        # On a busy machine, the session starts before the extension is loaded.
        await until(lambda: "echo" in pi_session.models.provider_ids())
        await pi_session.set_model(pi_session.models.find("echo/echo-1"))
        await pi_session.prompt("Hello")

        found = json.loads(pi_session.last_answer().text)
        assert found == {"apiKey": key, "atLoad": [key, token, None], "now": [key, token, None], "isConfined": True}
        await pi_session.reload()
