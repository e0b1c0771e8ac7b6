"""The contract of tools: their description for the model, their results, and what a call must not change."""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from attrs import evolve

from pi_core import ArgumentValidator, CompiledSchema, dumps, message_from_wire
from pi_hookspecs import ImageContent, TextContent, ToolResultMessage
from pi_testing.contract_needs import ContractSuite, needs
from pi_testing.patience import soon
from pi_testing.steps import text, tool_call

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pi_core import AgentSession
    from pi_hookspecs import Tool
    from pi_testing.fake_ui import FakeUI
    from pi_testing.options import PiOptions
    from pi_testing.recorder import EventRecorder
    from pi_testing.scripted import ScriptedProvider

__all__ = ["TOOL_FEATURES", "ToolRows", "arguments"]

TOOL_FEATURES: frozenset[str] = frozenset(("fails", "takes_long"))
"""Rows that need one are skipped where the subclass does not say how to call the tool for it."""

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What every API takes as the name of a tool."""

_BROKEN_OUTPUT = 'the output_schema of "{name}" is not a valid JSON schema: {problem}'

_ODD: tuple[dict[str, Any], ...] = ({}, {"no_such_argument": 1})
_OF_NO_TYPE: tuple[Any, ...] = (None, [[]], {"deep": {}}, -1, "\0")


def arguments(values: Mapping[str, Any] | None = None, /, **named: Any) -> Mapping[str, Any]:
    """Return the arguments of a call, by name or, for names that are not Python identifiers, as a mapping."""
    return MappingProxyType({**(values or {}), **named})


class ToolRows(ContractSuite):
    """See ``ToolContract``."""

    pytestmark = pytest.mark.asyncio  # without it nothing runs under pytest-asyncio's strict mode

    features = TOOL_FEATURES
    tool: ClassVar[str]
    works: ClassVar[Mapping[str, Any]]
    fails: ClassVar[Mapping[str, Any] | None] = None
    takes_long: ClassVar[Mapping[str, Any] | None] = None
    answers: ClassVar[Sequence[Any]] = ()

    def prepare(self, folder: Path) -> None:
        """Create the files that the calls need in the session's working directory."""

    @property
    def supports(self) -> frozenset[str]:  # type: ignore[override] # it follows from the subclass's attributes
        """The features that there are arguments for."""
        return frozenset(each for each in TOOL_FEATURES if getattr(self, each) is not None)

    @pytest.fixture
    def pi_options(self, pi_options: PiOptions) -> PiOptions:
        """Return the options of the test, with the tool under test as the one that is offered."""
        return evolve(pi_options, tools=[self.tool]) if pi_options.tools is None else pi_options

    @pytest.fixture
    def fake_tools(self) -> dict[str, Any]:
        """Return no stand-in: a tool that no plugin registers must not pass."""
        return {}

    @pytest.fixture(autouse=True)
    def _prepared(self, tmp_path: Path) -> Iterator[None]:
        folder, environment = Path.cwd(), dict(os.environ)
        self.prepare(tmp_path)
        yield
        os.chdir(folder)  # what one call left behind must not hide it from the row that looks
        for name in {*os.environ} - {*environment, "PYTEST_CURRENT_TEST"}:
            del os.environ[name]

    @pytest.fixture
    def under_test(self, pi_session: AgentSession) -> Tool:
        """Return the tool itself."""
        found = {each.name: each for each in pi_session.toolbox.active()}
        assert self.tool in found, f"no plugin offers a tool {self.tool!r}; offered: {sorted(found)}"
        return found[self.tool]

    async def called(
        self, session: AgentSession, script: ScriptedProvider, ui: FakeUI, *calls: Mapping[str, Any]
    ) -> list[ToolResultMessage]:
        """Let the model make calls in one message, and return their results."""
        for _ in calls:
            ui.answers(*self.answers)
        script.turn(*(tool_call(self.tool, arguments=each) for each in calls)).turn(text("Done."))
        answer = await session.prompt("Call it.")
        assert answer is not None
        assert answer.text == "Done.", answer.error_message
        return [each for each in script.requests[-1].messages if isinstance(each, ToolResultMessage)][-len(calls) :]

    # Description for the model

    async def test_its_name_and_description_say_something(self, under_test: Tool) -> None:
        assert _NAME.fullmatch(under_test.name)
        assert under_test.label.strip()
        assert len(under_test.description.split()) > 1, "the description is what the model goes by"
        assert "\n" not in (under_test.prompt_snippet or ""), "the snippet is one line of a list"
        assert all(line.strip() for line in under_test.prompt_guidelines)

    async def test_its_schema_is_a_valid_one_of_an_object(self, under_test: Tool) -> None:
        schema = under_test.parameters

        assert schema.get("type") == "object"
        assert ArgumentValidator().check_schema(under_test) is None
        assert json.loads(json.dumps(schema)) == schema
        assert set(schema.get("required", ())) <= set(schema.get("properties", {}))
        assert "ctx" not in schema.get("properties", {}), "the context is not an argument of the model's"
        silent = [name for name, each in schema.get("properties", {}).items() if not _is_described(each)]
        assert not silent, "the model relies on the description of each argument"

    async def test_the_model_is_offered_it(
        self, pi_session: AgentSession, under_test: Tool, script: ScriptedProvider
    ) -> None:
        script.turn(text("Hello."))
        await pi_session.prompt("Hi")

        assert under_test.name in script.requests[0].tools

    # What a call gives

    async def test_a_successful_call_returns_text_to_the_model(
        self, pi_session: AgentSession, under_test: Tool, script: ScriptedProvider, fake_ui: FakeUI
    ) -> None:
        (result,) = await self.called(pi_session, script, fake_ui, self.works)

        assert not result.is_error, result.text
        assert result.content
        assert all(isinstance(each, TextContent | ImageContent) for each in result.content)
        assert result.tool_name == under_test.name

    async def test_a_result_can_be_stored(
        self, pi_session: AgentSession, under_test: Tool, script: ScriptedProvider, fake_ui: FakeUI
    ) -> None:
        (result,) = await self.called(pi_session, script, fake_ui, self.works)
        stored = message_from_wire(json.loads(dumps(result)))

        assert isinstance(stored, ToolResultMessage)
        assert stored.content == result.content
        assert _is_plain(result.details), f"details are stored, and must be what JSON can say: {result.details!r}"
        assert dumps(stored) == dumps(result)

    async def test_details_are_what_the_output_schema_describes(
        self, pi_session: AgentSession, under_test: Tool, script: ScriptedProvider, fake_ui: FakeUI
    ) -> None:
        if under_test.output_schema is None:
            pytest.skip(f"the tool {under_test.name!r} has no output_schema")
        (result,) = await self.called(pi_session, script, fake_ui, self.works)

        assert not result.is_error, result.text
        described = CompiledSchema(under_test.name, under_test.output_schema, broken=_BROKEN_OUTPUT, scalars=False)
        assert described.fit(result.details)[1] == [], f"details are {result.details!r}"

    async def test_calls_of_one_message_each_get_their_result(
        self, pi_session: AgentSession, under_test: Tool, script: ScriptedProvider, fake_ui: FakeUI
    ) -> None:
        results = await self.called(pi_session, script, fake_ui, self.works, self.works)

        assert len({each.tool_call_id for each in results}) == 2  # noqa: PLR2004 - as many as there were calls
        assert not results[0].is_error, results[0].text

    @needs("fails")
    async def test_a_failed_call_gives_the_model_the_reason(
        self, pi_session: AgentSession, under_test: Tool, script: ScriptedProvider, fake_ui: FakeUI
    ) -> None:
        assert self.fails is not None
        (result,) = await self.called(pi_session, script, fake_ui, self.fails)

        assert result.is_error, f"this call should fail, and gave {result.text!r}"
        assert len(result.text.split()) > 1, "the model has to know what to do differently"
        assert "Traceback" not in result.text
        assert not result.text.startswith("Validation failed"), "these arguments do not fit the schema"

    async def test_arguments_that_make_no_sense_are_a_result_like_others(
        self, pi_session: AgentSession, under_test: Tool, script: ScriptedProvider, fake_ui: FakeUI
    ) -> None:
        required = under_test.parameters.get("required", ())
        fake_ui.dismiss_unexpected = True
        odd = [*_ODD, *(dict.fromkeys(under_test.parameters["properties"], value) for value in _OF_NO_TYPE)]
        results = await self.called(pi_session, script, fake_ui, *odd)

        assert len(results) == len(odd)
        assert results[0].is_error or not required, "arguments that the schema requires can be left out"
        assert [each.text for each in results if "Traceback" in each.text] == []

    # What a call leaves alone

    async def test_arguments_stay_as_the_model_wrote_them(
        self, pi_session: AgentSession, under_test: Tool, script: ScriptedProvider, fake_ui: FakeUI
    ) -> None:
        before = json.dumps(dict(self.works))
        await self.called(pi_session, script, fake_ui, self.works)
        (call,) = [call for message in pi_session.messages for call in getattr(message, "tool_calls", ())]

        assert json.dumps(call.arguments) == json.dumps(dict(self.works)) == before

    async def test_a_call_leaves_the_process_as_it_was(
        self,
        pi_session: AgentSession,
        under_test: Tool,
        script: ScriptedProvider,
        fake_ui: FakeUI,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        before = (Path.cwd(), dict(os.environ))
        await self.called(pi_session, script, fake_ui, self.works)

        assert (Path.cwd(), dict(os.environ)) == before, "several sessions may share the process"
        assert capfd.readouterr().out == "", "stdout is the front end's; a tool shows things with on_update and ctx.ui"

    @needs("takes_long")
    async def test_an_abort_ends_a_call(
        self,
        pi_session: AgentSession,
        under_test: Tool,
        script: ScriptedProvider,
        fake_ui: FakeUI,
        recorder: EventRecorder,
    ) -> None:
        assert self.takes_long is not None
        fake_ui.answers(*self.answers)
        script.turn(tool_call(self.tool, arguments=self.takes_long))
        pi_session.subscribe(recorder)
        running = asyncio.create_task(pi_session.prompt("Call it."))
        await recorder.wait_for("tool_execution_start")
        await asyncio.sleep(0.05)  # it is running; no event marks its start
        assert not recorder.of("tool_execution_end"), "takes_long has ended at once"
        await pi_session.abort()
        await soon(running, lambda: "the call to end after an abort")

        (result,) = [each for each in pi_session.messages if isinstance(each, ToolResultMessage)]
        assert result.is_error
        (answer,) = await self.called(pi_session, script, fake_ui, self.works)
        assert not answer.is_error, answer.text


def _is_described(schema: Any) -> bool:
    return isinstance(schema, dict) and bool(schema.get("description") or schema.get("title") or "$ref" in schema)


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True
