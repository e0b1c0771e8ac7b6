"""A session over a connection does and knows what it does and knows in its own process."""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pytest
import pytest_asyncio

from pi_client import CommandFailed, Event
from pi_client.commands import COMMANDS
from pi_client.methods import CommandMethods
from pi_core import AgentSession, Session
from pi_core.wire import dumps, is_on_wire
from pi_hookspecs import BashExecutionMessage, PiError, UserBashResult, UserError, hookimpl
from pi_rpc_kit.dispatch import Dispatcher
from pi_rpc_kit.remote import RemoteSession
from pi_rpc_kit.remote_ui import Asker
from pi_rpc_kit.requests import parse
from pi_testing import stall, text
from pi_testing.patience import soon

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from pi_client import PiClient
    from pi_client.commands import Request
    from pi_hookspecs import UserBashEvent
    from pi_testing import ScriptedProvider

R = TypeVar("R")

READS: dict[str, Callable[[Session], object]] = {
    "model": lambda session: session.model,
    "thinking_level": lambda session: session.thinking_level,
    "auto_compaction_enabled": lambda session: session.auto_compaction_enabled,
    "session_id": lambda session: session.session_id,
    "session_file": lambda session: session.session_file,
    "session_name": lambda session: session.session_name,
    "steering_mode": lambda session: session.steering_mode,
    "follow_up_mode": lambda session: session.follow_up_mode,
    "get_steering_messages": lambda session: session.get_steering_messages(),
    "get_follow_up_messages": lambda session: session.get_follow_up_messages(),
    "pending_message_count": lambda session: session.pending_message_count,
    "is_streaming": lambda session: session.is_streaming,
    "is_compacting": lambda session: session.is_compacting,
    "is_retrying": lambda session: session.is_retrying,
    "is_bash_running": lambda session: session.is_bash_running,
    "get_branch": lambda session: [each.id for each in session.get_branch()],
    "get_available_models": lambda session: [each.reference for each in session.get_available_models()],
    "get_available_thinking_levels": lambda session: session.get_available_thinking_levels(),
    "get_session_stats": lambda session: session.get_session_stats(),
    "get_last_assistant_text": lambda session: session.get_last_assistant_text(),
    "get_user_messages_for_forking": lambda session: [*session.get_user_messages_for_forking()],
}

NOT_COMPARED = {
    "cache_warming": "a state here, and its words over a connection",
    "problems": "the other process reports its own",
    "settings": "those of the user at the front end",
    "shutdown_requested": "over a connection the end of this client, not of the session",
}


class Shell:
    """A plugin that runs the user's commands."""

    @hookimpl
    def user_bash(self, event: UserBashEvent) -> UserBashResult:
        """Return the command as its output."""
        return UserBashResult(result=BashExecutionMessage(command=event.command, output=event.command, exit_code=0))


pytestmark = pytest.mark.pi(plugins=[Shell()])


class Wire(CommandMethods):
    """A client of a session in this process, which passes every command and event through its form on the wire."""

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def call(self, request: Request[R]) -> R:
        """Execute a command as a server does."""
        given: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        line = json.dumps({"type": request.type, **request.to_wire()}).encode()
        await Dispatcher(self._session, given.set_result, self._ended).carry_out(cast("Any", parse(line)))
        answer = json.loads(await given)
        if not answer["success"]:
            raise CommandFailed(request.type, answer["error"])
        return request.read_answer(answer.get("data"))

    def events(self) -> AsyncIterator[Event]:
        """Yield every event."""
        queue: asyncio.Queue[Event] = asyncio.Queue()
        self._session.subscribe(
            lambda event: queue.put_nowait(Event(json.loads(dumps(event)))) if is_on_wire(event) else None
        )

        async def received() -> AsyncIterator[Event]:
            while True:
                yield await queue.get()

        return received()


@pytest_asyncio.fixture
async def remote(pi_session: AgentSession) -> RemoteSession:
    """The session of the test, over a connection."""
    await pi_session.start()
    remote = RemoteSession(cast("PiClient", Wire(pi_session)), pi_session.settings, Asker())
    await remote.begin()
    remote.follow()
    return remote


async def answered(script: ScriptedProvider, session: Session, prompt: str) -> None:
    """Send a prompt and wait for its answer."""
    script.turn(text(f"To {prompt}"))
    await session.prompt(prompt)


async def until(holds: Callable[[], bool], what: Callable[[], object] = str) -> None:
    """Wait for a condition; raise ``AssertionError`` with what is the case instead if it never holds."""

    async def held() -> None:
        while not holds():  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0.005)

    await soon(held(), lambda: str(what()))


async def until_equal(remote: Session, here: Session) -> None:
    """Wait until a client knows what the session itself says."""

    def wrong() -> dict[str, tuple[object, object]]:
        both = {name: (read(remote), read(here)) for name, read in READS.items()}
        return {name: pair for name, pair in both.items() if pair[0] != pair[1]}

    await until(lambda: not wrong(), wrong)


VERBS: dict[str, Callable[[Session], Awaitable[object]]] = {
    "prompt": lambda session: session.prompt("one more"),
    "set_session_name": lambda session: session.set_session_name("Harbour"),
    "set_thinking_level": lambda session: session.set_thinking_level("high"),
    "cycle_thinking_level": lambda session: session.cycle_thinking_level(),
    "cycle_model": lambda session: session.cycle_model(),
    "set_model": lambda session: session.set_model(session.get_available_models()[-1]),
    "execute_bash": lambda session: session.execute_bash("true"),
    "fork": lambda session: session.fork(session.get_user_messages_for_forking()[1][0]),
    "clone": lambda session: session.clone(),
    "new_session": lambda session: session.new_session(),
    "compact": lambda session: _failing(session.compact()),
    "switch_session": lambda session: _failing(session.switch_session("nowhere")),
    "get_commands": lambda session: session.get_commands(),
    "resolve_model": lambda session: session.resolve_model(session.get_available_models()[0].reference),
}


async def _failing(work: Awaitable[object]) -> str:
    with pytest.raises(PiError) as raised:
        await work
    return str(raised.value)


@pytest.mark.parametrize("verb", VERBS)
async def test_a_verb_has_the_same_effect_here_and_over_a_connection(
    verb: str, pi_session: AgentSession, remote: RemoteSession, script: ScriptedProvider
) -> None:
    await answered(script, pi_session, "tide")
    await answered(script, pi_session, "wind")
    await until_equal(remote, pi_session)
    script.turn(text("More"))

    await VERBS[verb](remote)

    await until_equal(remote, pi_session)


async def test_results_are_those_of_the_session(
    pi_session: AgentSession, remote: RemoteSession, script: ScriptedProvider
) -> None:
    script.turn(text("High.")).turn(text("Low."))

    there, here = await remote.prompt("tide"), await pi_session.prompt("and then")
    assert there is not None
    assert here is not None
    assert (there.text, here.text) == ("High.", "Low.")
    ran_there, ran_here = await remote.execute_bash("echo sail"), await pi_session.execute_bash("echo sail")
    assert (type(ran_there), ran_there.output, ran_there.exit_code) == (type(ran_here), ran_here.output, 0)
    assert await remote.get_commands() == await pi_session.get_commands()
    await until_equal(remote, pi_session)
    message = remote.get_user_messages_for_forking()[0]
    forked = await remote.fork(message[0])
    assert (forked.selected_text, forked.cancelled) == ("tide", False)


async def test_an_abort_and_queued_texts_reach_the_session(
    pi_session: AgentSession, remote: RemoteSession, script: ScriptedProvider
) -> None:
    script.turn(text("High"), stall())
    running = asyncio.ensure_future(remote.prompt("tide"))
    await script.stalled()
    await remote.steer("now")
    await remote.follow_up("later")

    assert pi_session.get_steering_messages() == ("now",)
    assert pi_session.get_follow_up_messages() == ("later",)
    await until(lambda: (remote.get_steering_messages(), remote.get_follow_up_messages()) == (("now",), ("later",)))
    assert remote.pending_message_count == 2
    assert remote.take_user_texts() == ["now", "later"]
    await remote.abort()
    answer = await running
    assert answer is not None
    assert answer.stop_reason == "aborted"
    assert not pi_session.has_queued_messages()


async def test_a_model_is_found_by_its_name_or_a_part_that_no_other_one_has(
    pi_session: AgentSession, remote: RemoteSession, script: ScriptedProvider
) -> None:
    wanted = script.model.reference
    for name in (wanted, wanted.upper(), script.model.id):
        assert (await remote.resolve_model(name)).model == (await pi_session.resolve_model(name)).model

    with pytest.raises(UserError, match="No model is named 'sextant'"):
        await remote.resolve_model("sextant")


async def test_switches_are_known_at_once_and_reach_the_session(
    pi_session: AgentSession, remote: RemoteSession
) -> None:
    remote.set_steering_mode("all")
    remote.set_follow_up_mode("all")
    remote.set_auto_compaction_enabled(False)
    remote.set_auto_retry_enabled(False)

    assert (remote.steering_mode, remote.follow_up_mode, remote.auto_compaction_enabled) == ("all", "all", False)
    await until_equal(remote, pi_session)
    await until(lambda: not pi_session.auto_retry_enabled)


@pytest.mark.parametrize(
    ("verb", "arguments", "what"),
    [
        ("navigate_tree", ("1",), "Moving in the tree"),
        ("import_from_jsonl", ("x.jsonl",), "Importing a session"),
        ("reload", (), "Reloading extensions"),
        ("export", ("x.md",), "Exporting to a format other than HTML"),
    ],
)
async def test_what_the_protocol_does_not_have_says_where_it_is_possible(
    verb: str, arguments: tuple[str, ...], what: str
) -> None:
    session = RemoteSession.__new__(RemoteSession)
    with pytest.raises(UserError) as raised:
        await getattr(session, verb)(*arguments)
    assert str(raised.value) == f"{what} does not work over a connection. Do it where the session runs."


def test_every_member_of_a_session_is_compared_or_acted_on() -> None:
    members = {name for name in vars(Session) if not name.startswith("_")} | set(Session.__annotations__)
    verbs = {name for name in members if inspect.iscoroutinefunction(getattr(AgentSession, name, None))}

    assert {name for name in members if not hasattr(AgentSession, name)} <= {"settings", "shutdown_requested"}
    assert members - verbs - set(READS) - set(NOT_COMPARED) == {
        "abort_bash",
        "abort_compaction",
        "clear_queue",
        "set_auto_compaction_enabled",
        "set_auto_retry_enabled",
        "set_follow_up_mode",
        "set_steering_mode",
        "abort_retry",
        "follow_up",
        "has_ui",
        "local",
        "request_abort",
        "steer",
        "subscribe",
        "take_user_texts",
        "ui",
    }
    refused = {"navigate_tree", "import_from_jsonl", "reload"}
    assert verbs - set(VERBS) - refused == {"abort", "export"}
    assert {name for name in verbs if name not in COMMANDS} - refused == {"execute_bash", "export", "resolve_model"}
