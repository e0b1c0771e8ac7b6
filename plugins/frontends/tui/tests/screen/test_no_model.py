"""The screen of a session without a model: it says what to do, and keeps what is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pi_hookspecs import Model, ProviderInfo, hookimpl
from pi_testing import text

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_testing import ScriptedProvider


@pytest.fixture
def without_model(pi_session: AgentSession) -> AgentSession:
    pi_session.state.model = None
    return pi_session


async def test_a_prompt_without_a_model_says_what_to_do_and_stays_in_the_editor(
    desk, pi_session: AgentSession, script: ScriptedProvider
) -> None:
    assert pi_session.model is not None
    name, pi_session.state.model = pi_session.model.reference, None
    script.turn(text("High at noon."))
    async with desk((100, 40)) as user:
        await user.type("when is high water?", "enter")
        await user.sees("/login signs in to a provider", "/model offline/rules")
        assert user.typed == "when is high water?"

        await user.press("ctrl+u")
        await user.type(f"/model {name}", "enter")
        await user.sees(f"Model: {name}")
        await user.type("when is high water?", "enter")
        await user.sees("High at noon.")


class Harbour:
    @hookimpl
    def register_models(self):
        model = Model(id="low", name="Low", api="scripted", provider="harbour")
        return [
            ProviderInfo(
                id="harbour",
                name="Harbour",
                api="scripted",
                key_variables=("HARBOUR_API_KEY",),
                default_model="low",
                models=(model,),
            )
        ]


@pytest.mark.pi(plugins={"harbour": Harbour()})
async def test_signing_in_chooses_the_first_model(desk, without_model: AgentSession) -> None:
    async with desk((100, 40)) as user:
        await user.type("/login harbour", "enter")
        await user.sees("API key for harbour")
        await user.type("k-1234", "enter")
        await user.sees("The key for harbour is stored.", "Model: harbour/low. /model chooses another.")

    assert without_model.model is not None


class Quay:
    @hookimpl
    def register_models(self):
        model = Model(id="qwen", name="Qwen", api="scripted", provider="quay")
        return [ProviderInfo(id="quay", name="Quay", api="scripted", keyless=True, models=(model,))]


@pytest.mark.pi(plugins={"quay": Quay()})
@pytest.mark.usefixtures("without_model")
async def test_a_server_on_this_machine_is_offered(desk) -> None:
    async with desk((100, 40)) as user:
        await user.type("hello", "enter")

        await user.sees("A server on this machine has models: /model quay/qwen")
