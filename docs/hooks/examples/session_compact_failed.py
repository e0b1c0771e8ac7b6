"""Shows why a compaction failed."""

from pi_hookspecs import hookimpl


@hookimpl
def session_compact_failed(event, ctx):
    ctx.ui.notify(event.error_message or "stopped", "warning")


# Test

from contextlib import suppress

import pytest

from pi_hookspecs import UserError


@pytest.mark.pi(entry_points=["compaction"])
async def test_example(pi_session, fake_ui):
    with suppress(UserError):
        await pi_session.compact()

    assert fake_ui.notices[-1].message.startswith("Compaction failed: Nothing to compact")
