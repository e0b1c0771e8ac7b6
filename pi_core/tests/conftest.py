"""What the tests of the loop and the agent share: a model that plays turns, a log of events, tools made of functions.

The core is tested alone: these are not the fixtures of ``pi_testing``, which stand on the core themselves.
"""

from __future__ import annotations

import asyncio
import json
from itertools import count

import pytest

from pi_core import AgentContext, LoopConfig, PluginHost, Settings, agent_loop, create_agent_session
from pi_hookspecs import MessageBuilder, Model, TextContent, Tool, ToolResult, UserMessage

MODEL = Model(id="m", name="M", api="played", provider="p")


class Llm:
    """Plays one turn per request. A step is a text, ``thought(...)`` or ``call(...)``; a turn may be a generator."""

    model = MODEL

    def __init__(self):
        self.turns = []
        self.contexts = []
        self.options = []
        self._ids = count(1)

    def turn(self, *steps, stop="stop", start=True):
        self.turns.append((steps, stop, start))
        return self

    def plays(self, generator):
        """Play ``generator(builder, options)``."""
        self.turns.append(generator)
        return self

    def thought(self, text):
        return ("thinking", text)

    def call(self, name, /, call_id=None, raw=None, **arguments):
        return ("call", call_id or f"c{next(self._ids)}", name, json.dumps(arguments) if raw is None else raw)

    def stream(self, model, context, options):
        self.contexts.append(context)
        self.options.append(options)
        turn = self.turns[len(self.contexts) - 1]
        builder = MessageBuilder(model)
        return turn(builder, options) if callable(turn) else self._play(builder, *turn)

    async def _play(self, builder, steps, stop, start):
        if start:
            yield builder.start()
        for step in steps:
            await asyncio.sleep(0)
            for event in _events(builder, step):
                yield event
        yield builder.done(stop)

    def request_roles(self, request=-1):
        """The roles of a request's messages."""
        return [message.role for message in self.contexts[request].messages]


def _events(builder, step):
    if isinstance(step, str):
        yield (start := builder.text_start())
        yield builder.text(start.content_index, step)
        yield builder.text_end(start.content_index)
    elif step[0] == "thinking":
        yield (start := builder.thinking_start())
        yield builder.thinking(start.content_index, step[1])
        yield builder.thinking_end(start.content_index)
    else:
        _, call_id, name, raw = step
        yield (start := builder.tool_call_start(call_id, name))
        yield builder.tool_call(start.content_index, raw)
        yield builder.tool_call_end(start.content_index)


class Log:
    """Keeps events; ``outline`` prints them in the notation of the contract, updates of one message as one ``mu``."""

    def __init__(self):
        self.events = []

    def __call__(self, event):
        self.events.append(event)

    def of(self, kind):
        return [event for event in self.events if event.type == kind]

    @property
    def outline(self):
        steps = []
        for event in self.events:
            short = _short(event)
            if short != "mu" or steps[-1:] != ["mu"]:
                steps.append(short)
        return steps

    def text(self):
        return " ".join(self.outline)


def _short(event):
    kinds = {"tool_execution_start": "tes", "tool_execution_update": "teu", "tool_execution_end": "tee"}
    if event.type in kinds:
        return f"{kinds[event.type]}({event.tool_call_id})"
    if event.type == "message_update":
        return "mu"
    if event.type in ("message_start", "message_end"):
        role = event.message.role
        return f"{'ms' if event.type == 'message_start' else 'me'}({role})"
    return event.type


class Run:
    """What a run of the loop gave."""

    def __init__(self, log, context, messages):
        self.log = log
        self.context = context
        self.messages = messages
        self.outline = log.outline

    @property
    def results(self):
        return [message for message in self.messages if message.role == "toolResult"]

    @property
    def answers(self):
        return [message for message in self.messages if message.role == "assistant"]


@pytest.fixture
def llm():
    return Llm()


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def tool():
    """Make a tool of ``async def function(params, signal, update)``, or one that answers a text."""

    def make(name, function="done", *, schema=None, **fields):
        async def execute(call_id, params, signal, update, ctx):
            if isinstance(function, str):
                return ToolResult.text(function)
            return await function(params, signal, update)

        parameters = schema or {"type": "object", "properties": {}}
        return Tool(name=name, description=name, parameters=parameters, execute=execute, **fields)

    return make


@pytest.fixture
def run(llm, log):
    """Run the loop over prompts and return what happened; ``watch(event)`` sees every event as it comes."""

    async def start(*prompts, tools=(), messages=(), signal=None, watch=None, **config):
        context = AgentContext("be brief", [*messages], tuple(tools))
        prompted = [UserMessage(content=(TextContent(each),)) if isinstance(each, str) else each for each in prompts]
        stream = config.pop("stream", llm.stream)
        events = agent_loop(prompted, context, LoopConfig(model=MODEL, stream=stream, **config), signal)
        async for event in events:
            log(event)
            if watch is not None:
                watch(event)
        return Run(log, context, await events.result())

    return start


@pytest.fixture
def short_grace(monkeypatch):
    """What does not end after an abort is cancelled soon."""
    for module in ("request", "tool_run", "tool_calls"):
        monkeypatch.setattr(f"pi_core.agent.{module}.ABORT_GRACE", 0.02)


@pytest.fixture
def user():
    def make(text):
        return UserMessage(content=(TextContent(text),))

    return make


@pytest.fixture
def installed_host(pi_agent_dir, pi_plugin_index):
    """A host with the installed plugins, which are indexed once in a test run."""
    (pi_agent_dir / "cache").symlink_to(pi_plugin_index, target_is_directory=True)
    return PluginHost(Settings.in_memory({}, agent_dir=pi_agent_dir))


@pytest.fixture
async def session_of(tmp_path, pi_agent_dir, script, recorder):
    """Make a session of the scripted model with these plugins; the recorder is subscribed from the start."""
    made = []

    def make(*plugins, settings=None, tools=(), **options):
        settings = Settings.in_memory(settings or {}, agent_dir=pi_agent_dir)
        named = {f"plugin-{number}": each for number, each in enumerate(plugins)}
        session = create_agent_session(
            cwd=tmp_path,
            settings=settings,
            host=PluginHost(settings, installed=False),
            plugins={"script": script, **named},
            custom_tools=tools,
            **{"model": script.model, **options},
        )
        session.subscribe(recorder)
        made.append(session)
        return session

    yield make
    for session in made:
        await session.dispose()
