"""Signing in and out by a list of providers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pi_hookspecs import Model, ProviderInfo, hookimpl
from pi_tui.session.facts import problems_of

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
        await user.type("ebb-and-flow", "enter")
        await user.sees("Signed in to harbour.")
        await user.type("/logout", "enter")
        screen = await user.sees("Forget the credential of which provider?", "→ harbour   signed in")
        await user.press("enter")
        await user.sees("The credential of harbour was removed.")

    assert "ebb-and-flow" not in screen
    assert pi_session.models.auth.providers() == []


class Both(Logins):
    @hookimpl
    def register_models(self):
        model = Model(id="low", name="Low", api="scripted", provider="harbour")
        return [
            ProviderInfo(
                id="harbour", name="Harbour", api="scripted", key_variables=("HARBOUR_API_KEY",), models=(model,)
            )
        ]


@pytest.mark.pi(plugins={"harbour": Both()})
async def test_a_key_that_is_not_given_changes_nothing(desk) -> None:
    async with desk((100, 40)) as user:
        await user.type("/login harbour", "enter")
        await user.sees("How do you want to sign in to harbour?")
        await user.press("down", "enter")
        await user.sees("API key for harbour")
        await user.press("escape")
        screen = await user.sees("No key was given for harbour; nothing has changed.")

        await user.type("/logout nowhere", "enter")
        await user.sees("Nothing is stored for 'nowhere', which is no provider. There are no stored credentials.")

    assert "pipe" not in screen


@pytest.mark.pi(plugins={"harbour": Both()})
async def test_a_provider_with_a_login_can_also_get_a_key(desk, pi_session: AgentSession) -> None:
    async with desk((100, 40)) as user:
        await user.type("/login", "enter")
        await user.sees("→ harbour   account or API key")
        await user.press("enter")
        await user.sees("How do you want to sign in to harbour?", "account", "API key")
        await user.press("down", "enter")
        await user.sees("API key for harbour")
        await user.type("k-1234", "enter")
        screen = await user.sees("The key for harbour is stored.")

    assert "k-1234" not in screen
    assert pi_session.models.auth.get("harbour") == {"type": "api_key", "key": "k-1234"}


async def test_nothing_is_forgotten_where_nothing_is_stored(desk) -> None:
    async with desk() as user:
        await user.type("/logout", "enter")

        await user.sees("Nothing is stored for any provider.")


class Billed(Both):
    @hookimpl
    def register_logins(self):
        login = Harbour()
        login.billing = "Each wave is billed."
        return [login]


@pytest.mark.pi(plugins={"harbour": Billed()})
async def test_what_a_sign_in_may_cost_is_said_where_its_model_is_used_and_the_setting_allows_it(
    pi_session: AgentSession,
) -> None:
    await pi_session.models.auth.set("harbour", {"type": "oauth", "access": "a"})
    elsewhere = [*problems_of(pi_session)]
    await pi_session.set_model(pi_session.models.find("harbour/low"))
    here = [*problems_of(pi_session)]
    pi_session.settings.set("warnings.anthropicExtraUsage", value=False)

    assert "Each wave is billed." not in elsewhere
    assert "Each wave is billed." in here
    assert "Each wave is billed." not in [*problems_of(pi_session)]


def test_a_sign_in_to_anthropic_says_what_it_may_cost() -> None:
    from pi_provider_anthropic.login import AnthropicLogin

    assert "warnings.anthropicExtraUsage" in AnthropicLogin.billing
