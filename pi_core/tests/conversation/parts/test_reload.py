"""``Reloader`` alone: when a reload may begin, and who waits for it."""

from __future__ import annotations

import asyncio

import pytest

from pi_core.conversation.activations import Activations
from pi_core.conversation.reload import Reloader
from pi_hookspecs import StaleObject, UserError


@pytest.fixture
def reloader_of(runtime_of):
    def make(*plugins, compacting=False):
        runtime = runtime_of(*plugins)

        async def start():
            pass

        reloader = Reloader(
            runtime,
            start=start,
            is_compacting=lambda: compacting,
            activations=Activations(runtime),
            offer_tools=lambda: None,
        )
        reloader.runtime = runtime
        return reloader

    return make


async def test_during_a_prompt_it_is_refused(reloader_of):
    reloader = reloader_of()
    with reloader.runtime.gate.prompt(), pytest.raises(UserError, match="current response"):
        await reloader.reload()


async def test_during_a_compaction_it_is_refused(reloader_of):
    with pytest.raises(UserError, match="compaction"):
        await reloader_of(compacting=True).reload()


async def test_what_plugins_held_before_is_stale_and_the_hooks_get_a_new_ctx(reloader_of, plugin):
    seen = []
    reloader = reloader_of(plugin(session_start=lambda event, ctx: seen.append((event.reason, ctx.cwd))))
    before = reloader.runtime.ctx
    await reloader.reload()

    assert seen == [("reload", reloader.runtime.cwd)]
    with pytest.raises(StaleObject, match="reloaded"):
        before.cwd  # noqa: B018 - reading it is the test


async def test_a_handler_inside_does_not_wait_for_it_and_others_do(reloader_of, plugin):
    begun, go_on, reloaders = asyncio.Event(), asyncio.Event(), []

    async def session_start(event):
        await reloaders[0].finished()
        begun.set()
        await go_on.wait()

    reloaders.append(reloader_of(plugin(session_start=session_start)))
    going = asyncio.ensure_future(reloaders[0].reload())
    await begun.wait()
    waiting = asyncio.ensure_future(reloaders[0].finished())
    await asyncio.sleep(0)
    during = (reloaders[0].is_going_on, waiting.done())
    go_on.set()
    await asyncio.gather(going, waiting)

    assert (during, reloaders[0].is_going_on) == ((True, False), False)
