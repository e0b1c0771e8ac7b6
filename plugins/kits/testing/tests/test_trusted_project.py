"""Whether the project in the test's folder is trusted is what the marker says."""

from __future__ import annotations

import pytest

from pi_hookspecs import InputResult, hookimpl
from pi_testing import text


class Wary:
    """A plugin that does something only in projects that are trusted."""

    @hookimpl
    def input(self, event, ctx):
        return InputResult(text=f"{event.text} (trusted)") if ctx.is_project_trusted() else None


async def prompted(session, script):
    script.turn(text("Aye."))
    await session.prompt("Hi")
    return script.requests[0].user_text


@pytest.mark.pi(plugins=[Wary()])
async def test_a_project_is_not_trusted_unless_the_test_says_so(pi_session, script):
    assert await prompted(pi_session, script) == "Hi"


@pytest.mark.pi(plugins=[Wary()], trusted=True)
async def test_a_project_is_trusted_where_the_test_says_so(pi_session, script, tmp_path):
    assert await prompted(pi_session, script) == "Hi (trusted)"
    assert pi_session.settings.project_trust.is_about(tmp_path)
