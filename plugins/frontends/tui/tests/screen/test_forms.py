"""A form on the screen: fields of every type in one dialog, checked when they are submitted."""

from __future__ import annotations

import pytest

from pi_hookspecs import AbortController, FormField, FormOption

FIELDS = [
    FormField("name", title="Name of the harbour", required=True, minimum=3, description="As on the chart"),
    FormField("depth", "number", default=2.5, maximum=30),
    FormField("berths", "integer"),
    FormField("lit", "boolean"),
    FormField("coast", "choice", options=[FormOption("n", "north"), FormOption("s", "south")], default="s"),
    FormField("ships", "choices", options=["cutter", "ketch", "yawl"]),
]


async def asked(user, draws, fields=FIELDS, **how) -> None:
    await draws.lets(user, lambda ctx: ctx.ui.form(fields, title="Harbour", message="All about it.", **how))
    await user.sees("Harbour", "All about it.", "Submit")


async def test_values_of_every_type_are_entered(desk, draws) -> None:
    async with desk((80, 30)) as user:
        await asked(user, draws)
        text = user.text
        await user.press(*"Brest", "enter", "ctrl+u", *"12.5", "down", *"40", "enter")
        await user.press("space", "tab", "left", "tab", "tab", "space", "down", "down", "space", "enter", "enter")
        await user.when(lambda: draws.results)

        assert draws.results == [
            {"name": "Brest", "depth": 12.5, "berths": 40, "lit": True, "coast": "n", "ships": ["cutter", "yawl"]}
        ]
        for row in (
            "→ Name of the harbour *",
            "  depth",
            "2.5",
            "< not set >",
            "< south >",
            "[ ] ketch",
            "As on the chart",
        ):
            assert row in text


async def test_what_does_not_fit_is_displayed_at_its_field_and_nothing_is_lost(desk, draws) -> None:
    async with desk((80, 30)) as user:
        await asked(user, draws)
        await user.press("down", "ctrl+u", *"99", "up", "up", "enter")
        await user.sees("Name of the harbour is required", "→ Name")
        await user.press(*"Brest", "down")
        await user.sees("depth must be at most 30", "99")
        await user.press("ctrl+u", "up", "up", "enter")
        await user.when(lambda: draws.results)

        assert draws.results == [{"name": "Brest", "depth": 2.5, "coast": "s"}]


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_a_form_is_dismissed(desk, draws, key: str) -> None:
    async with desk((80, 30)) as user:
        await asked(user, draws)
        await user.press(*"Brest", key)
        await user.when(lambda: draws.results == [None])

        assert "Harbour" not in user.text


async def test_a_form_ends_with_its_signal_and_its_time(desk, draws) -> None:
    controller = AbortController()

    async with desk((80, 30)) as user:
        await asked(user, draws, signal=controller.signal)
        controller.abort("no time")
        await user.when(lambda: draws.results == [None])
        await draws.lets(user, lambda ctx: ctx.ui.form(FIELDS, timeout=0.05))
        await user.when(lambda: draws.results == [None, None])

        assert user.app.dialog is None


async def test_a_check_that_raises_ends_the_form_with_its_error(desk, draws) -> None:
    def check(value: str) -> str | None:
        raise KeyError(value)

    async with desk((120, 30)) as user:
        await asked(user, draws, [FormField("name", check=check)])
        await user.press("x", "enter", "enter")
        await user.sees("Plugin 'draws'", "KeyError: 'x'")

        assert user.app.dialog is None


async def test_a_form_that_is_longer_than_the_screen_scrolls(desk, draws) -> None:
    fields = [FormField(f"field{number}") for number in range(40)]

    async with desk((40, 12)) as user:
        await draws.lets(user, lambda ctx: ctx.ui.form(fields))
        await user.sees("→ field0")
        await user.press("up")
        text = await user.sees("→ Submit", "field39")
        await user.press("up", "z", "down", "enter")
        await user.when(lambda: draws.results == [{"field39": "z"}])

        assert "field0 " not in text
