"""Twenty clients of one session that come and go while it works: in the end all of them have the same transcript."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress

import pytest

from pi_testing import make_tool, text, tool_call
from pi_testing.patience import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.pi(tools=[make_tool("echo")])]

CLIENTS = 20
EVENTS = 10_000


class Wanderer:
    """A client that drops its connection again and again, and resumes from the last entry that it has."""

    def __init__(self, served, seed: int) -> None:
        self.lines: list[dict] = []
        self.joins = 0
        self._served = served
        self._random = random.Random(seed)  # noqa: S311 - the same breaks in each run

    def entries(self) -> list[dict]:
        known: dict[str, dict] = {}
        for line in self.lines:
            if line["type"] == "entries":
                if line.get("reset"):
                    known.clear()
                for each in line["entries"]:
                    assert each["id"] not in known, "an entry came twice"
                    known[each["id"]] = each
        return [*known.values()]

    async def follow(self, last: asyncio.Event) -> None:
        while not last.is_set():
            await self._once(self._random.randint(1, 900))
        await self._once(None)

    async def _once(self, lines: int | None) -> None:
        """Take so many lines and go; without a number, all there are."""
        known = self.entries()
        member = await self._served.join(role="observe", **({"since": known[-1]["id"]} if known else {}))
        self.joins += 1
        if lines is None:
            await member.call("get_state")
        else:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._random.random() * 2):
                    for _ in range(lines):
                        await member.receive()
        self.lines += member.lines
        member.close()


async def test_twenty_clients_that_drop_and_rejoin_have_equal_transcripts(served, script) -> None:
    for number in range(20):
        script.turn(text(f"Step {number}. " + "word " * 500, chunks=500), tool_call("echo", text=str(number)))
    script.turn(text("The end."))
    counted = 0

    def count(event: object, signal: object) -> None:
        nonlocal counted
        counted += 1

    served.session.subscribe(count)
    wanderers = [Wanderer(served, seed) for seed in range(CLIENTS)]
    asking, last = await served.join(), asyncio.Event()
    following = [asyncio.ensure_future(each.follow(last)) for each in wanderers]
    await asking.call("prompt", message="Take many steps")
    await asking.event("agent_settled")
    last.set()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*following)
    await asking.call("get_state")

    assert counted > EVENTS
    assert sum(each.joins for each in wanderers) > 2 * CLIENTS
    wanted = asking.entries()
    assert len(wanted) >= 42
    for each in wanderers:
        assert each.entries() == wanted
