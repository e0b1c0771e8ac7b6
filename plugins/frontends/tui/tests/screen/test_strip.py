"""The strip above the editor: what runs in one row, which opens into a list of the single things."""

from __future__ import annotations

import pytest

from pi_hookspecs import Activity, ActivityItem, Command, hookimpl


class Harbour:
    """Commands that show, look at and stop ships."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    @hookimpl
    def register_commands(self):
        return [Command(name, handler=getattr(self, name)) for name in ("sail", "look", "sink")]

    def sail(self, _args, ctx):
        ships = [ActivityItem("s1  ketch  $0.02", open="/look s1", stop="/sink s1"), ActivityItem("s2  yawl")]
        ctx.ui.set_activity("ships", Activity("2 ships at sea", items=ships))
        ctx.ui.set_activity("ports", Activity("1 port", items=[ActivityItem("Brest\x1b]0;x\x07")]))

    def look(self, args, ctx):
        self.calls.append(f"look {args}")
        ctx.ui.notify(f"Looking at {args}")

    def sink(self, args, ctx):
        self.calls.append(f"sink {args}")
        ctx.ui.set_activity("ships", Activity("1 ship at sea", items=[ActivityItem("s2  yawl")]))


HARBOUR = Harbour()
pytestmark = pytest.mark.pi(plugins={"harbour": HARBOUR})


@pytest.fixture(autouse=True)
def _calls():
    HARBOUR.calls.clear()


async def test_what_runs_is_one_row_until_it_ends(desk) -> None:
    async with desk((80, 24)) as user:
        assert "▸" not in user.text
        await user.press(*"/sail", "enter")
        await user.sees("▸ 2 ships at sea · 1 port", "alt+down opens")
        assert "ketch" not in user.text


@pytest.mark.parametrize("key", ["enter", "alt+down"])
async def test_a_key_opens_it_and_enter_looks_at_one(desk, key) -> None:
    async with desk((80, 24)) as user:
        await user.press(*"/sail", "enter")
        await user.sees("2 ships at sea")
        await user.press(key)
        await user.sees("Running and waiting", "→  s1  ketch  $0.02", "   s2  yawl", "1 port", "enter open · s stop")
        assert "Brest" in user.text
        await user.press("enter")
        await user.sees("Looking at s1")

        assert HARBOUR.calls == ["look s1"]


async def test_s_stops_one_while_the_list_stays_open_and_follows(desk) -> None:
    async with desk((80, 24)) as user:
        await user.press(*"/sail", "enter")
        await user.sees("2 ships at sea")
        await user.press("enter", "s")
        await user.sees("1 ship at sea", "→  s2  yawl")
        assert "ketch" not in user.text.partition("Running and waiting")[2]
        await user.press("escape")
        await user.when(lambda: "Running and waiting" not in user.text)

        assert HARBOUR.calls == ["sink s1"]


async def test_enter_at_an_empty_prompt_does_nothing_while_nothing_runs(desk) -> None:
    async with desk((80, 24)) as user:
        await user.press("enter", "alt+down")

        assert "Running and waiting" not in user.text
