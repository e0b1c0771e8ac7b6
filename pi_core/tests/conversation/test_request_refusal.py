"""A plugin refuses a request: it is not made, and its reason is the run's error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pi_hookspecs import ContextResult, hookimpl
from pi_testing import text

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_hookspecs import ContextEvent, PiContext
    from pi_testing import ScriptedProvider


class Refuses:
    @hookimpl
    def context(self, event: ContextEvent, ctx: PiContext) -> ContextResult | None:
        if len(event.messages) > 1:
            return ContextResult(block=True, reason="that is enough")
        return None


@pytest.mark.pi(plugins={"refuses": Refuses()})
async def test_a_refused_request_ends_the_run_with_its_reason(
    pi_session: AgentSession, script: ScriptedProvider
) -> None:
    script.turn(text("one"))
    await pi_session.prompt("first")

    answer = await pi_session.prompt("second")

    assert answer is not None
    assert (answer.stop_reason, answer.error_message) == ("error", "that is enough")
    assert len(script.requests) == 1


@pytest.mark.parametrize(("reason", "fits"), [("why", True), (None, True), (3, False)])
def test_a_reason_is_a_text(reason: object, fits: bool) -> None:
    result = ContextResult(block=True, reason=reason)  # type: ignore[arg-type]

    assert (result.problem(None) is None) == fits  # type: ignore[arg-type]
