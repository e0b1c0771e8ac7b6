"""The real ``pi acp`` and an editor made of the official SDK's client, which validates every message of pi."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path


FAKE = '''
import asyncio
import json
import os

from pi_hookspecs import Command, FormField, MessageBuilder, Model, ProviderInfo, ToolAnnotations, ToolContext, Usage
from pi_hookspecs import hookimpl, tool


class Fake:
    """Does what the prompt says: ``call TOOL JSON``, ``flood N``, ``stall``, ``fail``, ``long``, else an echo."""

    api = "fake"

    async def stream(self, model, context, options):
        builder = MessageBuilder(model)
        builder.usage = Usage(input=100, output=10, total_tokens=110)
        said = context.messages[-1]
        word, _, rest = said.text.partition(" ")
        yield builder.start()
        if said.role == "toolResult":
            word, rest = "", ""
        if word == "call":
            name, _, arguments = rest.partition(" ")
            start = builder.tool_call_start(f"call-{len(context.messages)}", name)
            yield start
            yield builder.tool_call(start.content_index, arguments)
            yield builder.tool_call_end(start.content_index)
        elif word == "fail":
            yield builder.fail('503: {"error": {"message": "overheated"}}')
            return
        else:
            if word == "think":
                start = builder.thinking_start()
                yield start
                yield builder.thinking(start.content_index, "Hm. ")
                yield builder.thinking_end(start.content_index)
            start = builder.text_start()
            yield start
            for number in range(int(rest) if word == "flood" else 1):
                yield builder.text(start.content_index, f"{number} " if word == "flood" else said.text)
                if number % 64 == 63:
                    await asyncio.sleep(0)
            if word == "stall":
                await options.signal.wait()
                yield builder.abort()
                return
            yield builder.text_end(start.content_index)
        yield builder.done("length" if word == "long" else None)


@tool
async def hang(ctx: ToolContext) -> None:
    """Ignore that it is aborted and cancelled."""
    ctx.update("begun")
    while True:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            pass


@tool
async def hang_on(ctx: ToolContext) -> str:
    """Wait until there is a file 'go'."""
    ctx.update("waiting")
    while not os.path.exists(f"{ctx.cwd}/go"):
        await asyncio.sleep(0.02)
    return "went on"


@tool(namespace="sights", annotations=ToolAnnotations(read_only=True))
async def look(ctx: ToolContext) -> str:
    """Return the folder."""
    return str(ctx.cwd)


@tool
async def trace(ctx: ToolContext) -> str:
    """Return the context of the trace."""
    return json.dumps(dict(await ctx.trace_context()))


async def ask(arguments, ctx):
    answers = [
        await ctx.ui.confirm("Really?", "It is late"),
        await ctx.ui.select("Which?", ["one", "two"]),
        await ctx.ui.input("Name?", "of the boat"),
        await ctx.ui.form([FormField("depth", "number", minimum=1), FormField("zone", "choice", options=["a", "b"])]),
    ]
    ctx.ui.notify(json.dumps(answers))


def loud(arguments, ctx):
    print("printed", flush=True)
    os.write(1, b"written\\n")
    os.system("echo from a program")


@hookimpl
def activate(pi):
    @pi.register_command("plan")
    def plan(arguments, ctx):
        pi.events.emit("plan", ["Look", {"content": "Mend", "status": "in_progress", "priority": "high"}])

    @pi.register_command("servers")
    def servers(arguments, ctx):
        ctx.ui.notify(json.dumps({each.name: each.config for each in pi.get_mcp_servers()}))

    @pi.register_command("name")
    async def name(arguments, ctx):
        await pi.set_session_name(arguments)

    @pi.register_command("page")
    def page(arguments, ctx):
        ctx.ui.open_url("https://tides.example/")

    @pi.register_command("later")
    def later(arguments, ctx):
        loop = asyncio.get_running_loop()
        loop.call_later(0.1, lambda: pi.send_user_message(arguments))

    @pi.register_command("hurry")
    async def hurry(arguments, ctx):
        answer = await ctx.ui.confirm("Quick?", timeout=0.1)
        ctx.ui.notify(f"answer: {answer}")

    @pi.register_command("more")
    def more(arguments, ctx):
        pi.register_command("late", description="Registered late")(loud)


@hookimpl
def register_commands():
    return [
        Command("ask", handler=ask, description="Ask everything"),
        Command("loud", handler=loud, description="Print everywhere"),
    ]


@hookimpl
def register_tools():
    return [hang, hang_on, look, trace]


@hookimpl
def register_providers():
    return [Fake()]


@hookimpl
def register_models():
    models = tuple(Model(id=each, name=each, api="fake", provider="fake", reasoning=True) for each in ("echo", "other"))
    return [ProviderInfo(id="fake", name="Fake", api="fake", keyless=True, models=models)]
'''

KEPT = {"LANG", "LC_ALL", "PATH", "PYTHONPYCACHEPREFIX", "TMPDIR", "VIRTUAL_ENV"}


class Editor:
    """An editor: keeps what it gets, and answers as the test wants.

    Attributes:
        process: The process of pi.
        agent: What the editor calls.
        updates: What pi sent of its sessions: session, kind, and the update as it was on the wire.
        asked: Parameters of pi's requests, by method.
        allow: Chooses the option of a permission request by its parameters.
        form: What forms are answered with; None dismisses them.
        files: The unsaved texts, by path.
        hesitation: Seconds before dialogs are answered.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        from acp.client.connection import ClientSideConnection

        self.process = process
        self.messages: list[dict[str, Any]] = []
        self.sent: dict[Any, str] = {}
        self.updates: list[tuple[str, str, dict[str, Any]]] = []
        self.asked: dict[str, list[dict[str, Any]]] = {}
        self.allow: Callable[[dict[str, Any]], str | None] = lambda asked: asked["options"][0]["optionId"]
        self.form: dict[str, Any] | None = None
        self.files: dict[str, str] = {}
        self.hesitation = 0.0
        self.terminals: dict[str, str] = {}
        self._news = asyncio.Event()
        self.agent = ClientSideConnection(
            self, process.stdin, process.stdout, observers=[self._observe], use_unstable_protocol=True
        )

    def _observe(self, event: Any) -> None:
        message = event.message
        if event.direction.value == "outgoing":
            if "method" in message:
                self.sent[message.get("id")] = message["method"]
            return
        self.messages.append(message)
        if message.get("method") == "session/update":
            update = message["params"]["update"]
            self.updates.append((message["params"]["sessionId"], update["sessionUpdate"], update))
        elif "method" in message:
            self.asked.setdefault(message["method"], []).append(message["params"])
        self._news.set()

    async def until(self, wanted: Callable[[], Any]) -> Any:
        """Return what a function returns, once it is true; it is asked after each message."""
        async with asyncio.timeout(PATIENCE):
            while not (found := wanted()):
                self._news.clear()
                await self._news.wait()
        return found

    def of(self, kind: str, session: str | None = None) -> list[dict[str, Any]]:
        """Return the updates of a kind."""
        return [update for of, name, update in self.updates if name == kind and session in (None, of)]

    def text(self, session: str | None = None, kind: str = "agent_message_chunk") -> str:
        """Return the text of all messages."""
        return "".join(each["content"]["text"] for each in self.of(kind, session))

    async def start(self, **capabilities: Any) -> Any:
        """Initialize the connection."""
        from acp.schema import ClientCapabilities

        offered = ClientCapabilities.model_validate(capabilities)
        return await self.agent.initialize(protocol_version=1, client_capabilities=offered)

    async def say(self, session: str, text: str) -> Any:
        """Send a prompt of one text."""
        from acp.helpers import text_block

        async with asyncio.timeout(PATIENCE):
            return await self.agent.prompt(session_id=session, prompt=[text_block(text)])

    def post(self, line: bytes) -> None:
        """Write a line that the SDK would not."""
        self.process.stdin.write(line + b"\n")

    async def ended(self) -> int:
        """Close stdin; return the exit code."""
        self.process.stdin.close()
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()

    # What pi calls

    async def session_update(self, **_: Any) -> None:
        pass

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **_: Any) -> dict[str, Any]:
        await asyncio.sleep(self.hesitation)
        chosen = self.allow(self.asked["session/request_permission"][-1])
        if chosen is None:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> dict[str, Any]:
        await asyncio.sleep(self.hesitation)
        return {"action": "cancel"} if self.form is None else {"action": "accept", "content": self.form}

    async def read_text_file(self, path: str, **_: Any) -> dict[str, Any]:
        return {"content": self.files[path]}

    async def write_text_file(self, path: str, content: str, **_: Any) -> dict[str, Any]:
        self.files[path] = content
        return {}

    async def create_terminal(self, command: str, args: list[str], cwd: str, **_: Any) -> dict[str, Any]:
        process = await asyncio.create_subprocess_exec(command, *args, cwd=cwd, stdout=asyncio.subprocess.PIPE)
        output, _errors = await process.communicate()
        self.terminals["t1"] = output.decode()
        return {"terminalId": "t1"}

    async def terminal_output(self, terminal_id: str, **_: Any) -> dict[str, Any]:
        return {"output": self.terminals[terminal_id], "truncated": False}

    async def wait_for_terminal_exit(self, **_: Any) -> dict[str, Any]:
        return {"exitCode": 0}

    async def release_terminal(self, **_: Any) -> dict[str, Any]:
        return {}

    # What pi sent, by the models of the SDK

    def check(self) -> None:
        """Validate all messages of pi: each is what the schema has, and nothing else."""
        for message in self.messages:
            _check(message, self.sent)


def _check(message: dict[str, Any], sent: dict[Any, str]) -> None:
    from acp import schema
    from pydantic import TypeAdapter

    answers = {
        "initialize": schema.InitializeResponse,
        "authenticate": schema.AuthenticateResponse,
        "logout": schema.LogoutResponse,
        "session/new": schema.NewSessionResponse,
        "session/load": schema.LoadSessionResponse,
        "session/resume": schema.ResumeSessionResponse,
        "session/fork": schema.ForkSessionResponse,
        "session/list": schema.ListSessionsResponse,
        "session/delete": schema.DeleteSessionResponse,
        "session/close": schema.CloseSessionResponse,
        "session/prompt": schema.PromptResponse,
        "session/set_mode": schema.SetSessionModeResponse,
        "session/set_config_option": schema.SetSessionConfigOptionResponse,
    }
    requests = {
        "session/update": schema.SessionNotification,
        "$/cancel_request": schema.CancelRequestNotification,
        "session/request_permission": schema.RequestPermissionRequest,
        "elicitation/create": schema.CreateElicitationRequest,
        "fs/read_text_file": schema.ReadTextFileRequest,
        "fs/write_text_file": schema.WriteTextFileRequest,
        "terminal/create": schema.CreateTerminalRequest,
        "terminal/output": schema.TerminalOutputRequest,
        "terminal/wait_for_exit": schema.WaitForTerminalExitRequest,
        "terminal/release": schema.ReleaseTerminalRequest,
    }
    assert message["jsonrpc"] == "2.0"
    if "method" in message:
        model, value = requests[message["method"]], message["params"]
    elif "error" in message:
        model, value = schema.Error, message["error"]
    else:
        model, value = answers[sent[message["id"]]], message["result"]
    adapter = TypeAdapter(model)
    read = adapter.validate_python(value)
    # The models drop what they do not know and repair what is optional: the same must come out again.
    assert json.loads(adapter.dump_json(read, by_alias=True, exclude_unset=True)) == value


@pytest.fixture(scope="session")
def acp_agent_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An agent directory that all processes share: its index is made once. Sessions are stored elsewhere."""
    folder = tmp_path_factory.mktemp("acp-agent")
    (folder / "settings.json").write_text(json.dumps({"defaultProvider": "fake", "defaultModel": "echo"}))
    return folder


@pytest.fixture(scope="session")
def acp_fake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A local extension with the provider ``fake``."""
    file = tmp_path_factory.mktemp("acp-fake") / "fake.py"
    file.write_text(FAKE)
    return file


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder to work in."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "tide.py").write_text("def tide(hour):\n    return 0\n")
    return folder


@pytest.fixture
def run_acp(tmp_path: Path, acp_agent_dir: Path, acp_fake: Path) -> Any:
    """Start ``pi acp``: ``async with run_acp() as editor``; everything that it sent is validated at the end."""

    @asynccontextmanager
    async def run(*before: str, after: tuple[str, ...] = (), code: int = 0, **variables: str) -> AsyncIterator[Editor]:
        environ = {
            **{name: value for name, value in os.environ.items() if name in KEPT},
            "HOME": str(tmp_path),
            "PI_CODING_AGENT_DIR": str(acp_agent_dir),
            "PI_CODING_AGENT_SESSION_DIR": str(tmp_path / "sessions"),
            **variables,
        }
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "pi_cli", "-e", str(acp_fake), *before, "acp", *after),
            cwd=tmp_path,
            env=environ,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            limit=2**24,
        )
        editor = Editor(process)
        try:
            yield editor
            assert await editor.ended() == code
            editor.check()
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
            await editor.agent.close()

    return run
