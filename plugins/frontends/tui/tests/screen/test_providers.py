"""Signing in and out by a list of providers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from pi_core import AgentSession


class Harbour:
    name = "harbour"

    async def login(self, ui):
        return {"access": f"for {await ui.input('Code?')}"}

    async def refresh(self, credential):
        return credential

    def api_key(self, credential):
        return credential["access"]


class Logins:
    @hookimpl
    def register_logins(self):
        return [Harbour()]


@pytest.mark.pi(plugins={"harbour": Logins()})
async def test_a_provider_is_chosen_and_forgotten(desk, pi_session: AgentSession) -> None:
    async with desk((100, 40)) as user:
        await user.type("/login", "enter")
        await user.sees("Sign in to which provider?", "→ harbour   account")
        await user.press("enter")
        await user.sees("Code?")
        await user.type("1234", "enter")
        await user.sees("Signed in to harbour.")
        await user.type("/logout", "enter")
        screen = await user.sees("Forget what is stored for which provider?", "→ harbour   signed in")
        await user.press("enter")
        await user.sees("What was stored for harbour is removed.")

    assert "1234" not in screen
    assert pi_session.models.auth.providers() == []


async def test_nothing_is_forgotten_where_nothing_is_stored(desk) -> None:
    async with desk() as user:
        await user.type("/logout", "enter")

        await user.sees("Nothing is stored for any provider.")
