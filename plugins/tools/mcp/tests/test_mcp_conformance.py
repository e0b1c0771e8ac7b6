"""The conformance suite of the protocol against ``pi --mode rpc``; ``tools/install_mcp_servers.py`` installs it.

Of the scenarios that no revision requires, those of extensions are left out: pi has no sign-in without a user.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pi_testing.patience import PATIENCE

FOLDER = Path(__file__).parents[4] / ".mcp-servers"
NODE = FOLDER / "conformance" / "node_modules" / ".bin" / "node"
CLIENT = Path(__file__).parent / "conformance" / "client.py"
RELEASED = ("conformance", "2025-11-25")
NEXT = ("conformance-next", "2026-07-28")

SIGN_IN = """
auth/basic-cimd auth/metadata-default auth/metadata-var1 auth/metadata-var2 auth/metadata-var3 auth/offline-access-scope
auth/offline-access-not-supported auth/pre-registration auth/resource-mismatch auth/scope-from-scopes-supported
auth/scope-from-www-authenticate auth/scope-omitted-when-undefined auth/scope-retry-limit auth/scope-step-up
auth/token-endpoint-auth-basic auth/token-endpoint-auth-none auth/token-endpoint-auth-post tools_call
""".split()
ONLY_RELEASED = """
initialize elicitation-sep1034-client-defaults sse-retry auth/2025-03-26-oauth-endpoint-fallback
""".split()
ONLY_NEXT = """
auth/authorization-server-migration auth/iss-normalized auth/iss-not-advertised auth/iss-supported
auth/iss-supported-missing auth/iss-unexpected auth/iss-wrong-issuer auth/metadata-issuer-mismatch http-custom-headers
http-invalid-tool-headers http-standard-headers json-schema-2020-12-preservation json-schema-ref-no-deref
request-metadata sep-2322-client-request-state
""".split()
REFUSED = "auth/2025-03-26-oauth-metadata-backcompat"
"""The one that fails in the SDK: it refuses metadata that name another issuer than the server, and is right."""
CASES = [
    *(pytest.param(RELEASED, each, id=f"{RELEASED[1]}-{each}") for each in SIGN_IN + ONLY_RELEASED),
    pytest.param(RELEASED, REFUSED, id=REFUSED, marks=pytest.mark.xfail(reason="the SDK compares the issuers")),
    *(pytest.param(NEXT, each, id=f"{NEXT[1]}-{each}") for each in SIGN_IN + ONLY_NEXT),
]


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "scenario"), CASES)
def test_pi_does_what_the_protocol_requires_of_a_client(suite: tuple[str, str], scenario: str, tmp_path: Path) -> None:
    folder, revision = suite
    program = FOLDER / folder / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    if not NODE.exists() or not program.exists():
        pytest.skip("the conformance suite is not installed; run tools/install_mcp_servers.py")
    client = shlex.join([sys.executable, str(CLIENT)])
    version = ["--spec-version", revision] if suite == NEXT else []
    command = [NODE, program, "client", "--command", client, "--scenario", scenario, *version]

    done = subprocess.run(
        [*command, "--timeout", f"{PATIENCE * 1000:g}", "-o", tmp_path], capture_output=True, text=True, check=False
    )
    (checks,) = tmp_path.rglob("checks.json")

    found = json.loads(checks.read_text())
    assert [f"{each['id']}: {each.get('errorMessage')}" for each in found if each["status"] == "FAILURE"] == []
    assert "SUCCESS" in [each["status"] for each in found]
    assert done.returncode == 0, f"{done.stdout}\n{checks.with_name('stderr.txt').read_text()}"
