"""The client that the MCP conformance suite tests: ``client.py URL`` is a run of ``pi --mode rpc`` with that server.

A model calls every tool; the user accepts every form with its defaults, agrees to every question, and signs in with a
browser that follows redirects.
"""

# ruff: noqa: T201 - the suite keeps what it prints, for a person

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from pi_client import PiClient

MODEL = Path(__file__).with_name("every_tool.py")
METADATA = "https://conformance-test.local/client-metadata.json"
"""The address of the client's metadata that the suite expects."""


SIGN_INS = 3
"""How often a user does what an error says before giving up."""


class User:
    """Answers what pi asks.

    Attributes:
        noticed: The text of the notices.
    """

    def __init__(self) -> None:
        self.noticed = ""

    async def answer(self, request: Any) -> str | bool | None:
        """Return the answer to a dialog; of a notice, do what it says."""
        print(request.method, request.data, file=sys.stderr)
        if request.method == "notify":
            text = str(request.data["message"])
            self.noticed += text
            if page := re.search(r"Open this page in a browser: (\S+)", text):
                await asyncio.to_thread(visit, page[1])
            return None
        if request.method == "confirm":
            return True
        if request.method == "select":
            return request.options[0]
        if "Sign in" in request.title:  # the browser comes back on its own
            await asyncio.sleep(60)
        return ""


def visit(url: str) -> None:
    """Open a page as a browser would; where it leads is up to the server."""
    try:
        with urlopen(url, timeout=120) as page:  # noqa: S310 - the suite's own server
            page.read()
    except URLError as error:
        print(f"{url}: {error}", file=sys.stderr)


def entry(url: str, context: dict[str, Any]) -> dict[str, Any]:
    """Return the server's entry in mcp.json."""
    oauth = {"clientId": context.get("client_id"), "clientSecret": context.get("client_secret")}
    oauth["clientMetadataUrl"] = METADATA
    return {"url": url, "exposure": "direct", "oauth": {key: each for key, each in oauth.items() if each}}


async def called(client: PiClient) -> str:
    """Let the model call every tool, and return the text of the results."""
    events = [event async for event in client.stream("Call every tool.")]
    results = [str(event["result"]) for event in events if event.type == "tool_execution_end"]
    print(results, file=sys.stderr)
    return "".join(results)


async def main(url: str) -> None:
    """Connect, sign in where that is wanted, and let the model call every tool."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    user = User()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "mcp.json").write_text(json.dumps({"mcpServers": {"it": entry(url, context)}}))
        options = ("--no-session", "-e", str(MODEL), "--model", "every-tool/all")
        environ = {**os.environ, "PI_CODING_AGENT_DIR": folder, "PI_OFFLINE": "1"}
        pi = Path(sys.executable).with_name("pi")
        async with PiClient.start(*options, command=(str(pi),), cwd=folder, env=environ, on_ui=user.answer) as client:
            for _ in range(SIGN_INS):
                if "requires a sign-in" not in await called(client) + user.noticed:
                    break
                user.noticed = ""
                await client.prompt("/mcp login it")
        log = Path(folder, "mcp.log")
        print(log.read_text() if log.exists() else "", file=sys.stderr)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
