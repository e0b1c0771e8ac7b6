"""The contract of virtual models: each request of any reason and level goes to a model that can answer it.

```python
@pytest.mark.pi(plugins={"acme": TwoModels()}, settings={"router": {"plan": "acme/strong", "edit": "acme/cheap"}})
class TestRouter(VirtualModelContract):
    model = "plan-edit/auto"
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, get_args

import pytest

from pi_core import thinking_levels
from pi_hookspecs import Context, Model, RouteReason, RouteRequest, SideRequest, UserMessage, VirtualModel
from pi_testing.stand_ins import make_tool
from pi_testing.steps import text, tool_call

if TYPE_CHECKING:
    from pi_core import AgentSession
    from pi_testing.scripted import Request, ScriptedProvider

__all__ = ["VirtualModelContract"]


class VirtualModelContract:
    """All tests of the contract; a subclass whose name begins with ``Test`` sets the model.

    The script has to play the models that it chooses: a plugin of the tests adds them, with the API
    ``scripted``.

    Attributes:
        model: The model as ``--model`` takes it, ``provider/id``.
    """

    pytestmark = pytest.mark.asyncio  # without it nothing runs under pytest-asyncio's strict mode

    model: ClassVar[str]

    @pytest.fixture
    async def selected(self, pi_session: AgentSession) -> AgentSession:
        """Return a session that uses the virtual model."""
        pi_session.add_tool(make_tool("contract_echo"), "contract")
        await pi_session.set_model(pi_session.models.find(self.model))
        return pi_session

    @pytest.fixture
    def definition(self, pi_session: AgentSession) -> VirtualModel:
        """Return the virtual model itself."""
        found = pi_session.models.virtual(pi_session.models.find(self.model))
        assert found is not None, f"{self.model} is not a virtual model"
        virtual: VirtualModel = found.thing
        return virtual

    def check(self, request: Request) -> None:
        """Check that a request was made to a model that can answer it."""
        assert not request.model.is_virtual
        assert (request.options.reasoning or "off") in thinking_levels(request.model)

    async def test_it_is_offered_and_selected_like_any_other_model(self, selected: AgentSession) -> None:
        model = selected.model

        assert model is not None
        assert model.is_virtual
        assert model.reference == self.model
        assert model.reference in [each.reference for each in selected.models.available()]

    async def test_its_definition_is_complete(self, definition: VirtualModel) -> None:
        assert definition.problem() is None
        assert len(set(definition.thinking_levels)) == len(definition.thinking_levels)
        assert 0 < definition.max_tokens <= definition.context_window
        assert "text" in definition.input

    async def test_each_request_of_a_run_goes_to_a_model_that_can_answer(
        self, selected: AgentSession, script: ScriptedProvider
    ) -> None:
        script.turn(tool_call("contract_echo")).turn(tool_call("contract_echo")).turn(text("Done."))
        answer = await selected.prompt("Call it twice.")

        assert answer is not None
        assert answer.text == "Done.", answer.error_message
        for request in script.requests:
            self.check(request)
        last = script.requests[-1].model
        assert (answer.provider, answer.model) == (last.provider, last.id)
        assert answer.thinking_level in thinking_levels(last)

    async def test_each_level_that_can_be_selected_leads_to_a_model(
        self, selected: AgentSession, script: ScriptedProvider
    ) -> None:
        for level in selected.get_available_thinking_levels():
            script.turn(text("Done."))
            await selected.set_thinking_level(level)
            answer = await selected.prompt("Hi")
            assert answer is not None
            assert answer.text == "Done.", f"{level}: {answer.error_message}"
            self.check(script.requests[-1])

    async def test_a_request_outside_the_conversation_has_a_model(
        self, selected: AgentSession, script: ScriptedProvider
    ) -> None:
        script.turn(text("A title"))
        context = Context(messages=(UserMessage(content="Name it"),))
        answer = await selected.complete(context, SideRequest(purpose="title"))

        assert answer.text == "A title", answer.error_message
        self.check(script.requests[-1])

    async def test_it_chooses_for_every_reason_with_and_without_a_previous_answer(
        self, selected: AgentSession, definition: VirtualModel
    ) -> None:
        model = selected.model
        assert model is not None
        for reason in get_args(RouteReason):
            previous = None
            for _ in range(2):
                request = RouteRequest(
                    model=model,
                    thinking_level=selected.thinking_level,
                    reason=reason,
                    previous=previous,
                    messages=(UserMessage(content="Hi"),),
                )
                answer: Any = definition.route(request, selected.ctx)
                name, level = await answer if hasattr(answer, "__await__") else answer
                chosen = name if isinstance(name, Model) else selected.models.find(name)
                selected.models.check(chosen)
                assert not chosen.is_virtual, reason
                previous = chosen, level or selected.thinking_level
