"""When something is recorded, and what the names are."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes, mcp_attributes
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics

from pi_core import Settings, create_agent_session
from pi_otel import names
from pi_otel.telemetry import telemetry
from pi_otel.variables import exporter_of, is_wanted
from pi_testing import for_each, text
from pi_testing.patience import PATIENCE


@for_each(
    ("environ", "wanted"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, True),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://x"}, True),
        ({"OTEL_TRACES_EXPORTER": "console"}, True),
        ({"OTEL_TRACES_EXPORTER": "none"}, False),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, True),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "u"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        ({"OTEL_SERVICE_NAME": "shop"}, False),
    ],
)
def test_the_variables_decide(environ, wanted):
    assert is_wanted(environ) is wanted


def test_an_address_means_otlp_unless_another_exporter_is_named():
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_METRICS_EXPORTER": "console"}

    assert (exporter_of("TRACES", environ), exporter_of("METRICS", environ)) == ("otlp", "console")


@pytest.fixture
def only_settings(seen, monkeypatch):
    """Return the recording of a session that no variable asks for."""
    monkeypatch.delenv("OTEL_TRACES_EXPORTER")
    return seen


@pytest.mark.pi(settings={"otel": {"enabled": True, "hookThreshold": 60_000}})
async def test_the_users_own_setting_is_enough(only_settings, pi_session, script):
    script.turn(text("Hello."))

    await pi_session.prompt("Hi")

    assert await only_settings.tree() == ["invoke_agent pi", "  chat model"]


@pytest.fixture
async def in_project(seen, tmp_path):
    """A session with the installed plugins, in a trusted project that wants to know everything."""
    (tmp_path / ".pi").mkdir()
    (tmp_path / ".pi" / "settings.json").write_text(json.dumps({"otel": {"enabled": True, "content": True}}))
    settings = Settings.load(tmp_path, tmp_path / "agent", trust=True)
    async with create_agent_session(model="offline/rules", cwd=tmp_path, settings=settings) as session:
        yield session


async def test_a_projects_setting_does_not_count(only_settings, in_project):
    await in_project.prompt("Hi")

    assert in_project.settings.get("otel.enabled") is None
    assert {each.hook for each in in_project.hooks.counters() if each.plugin == "otel"} == set()
    assert await only_settings.spans() == []


async def test_a_project_does_not_ask_for_content(seen, in_project):
    await in_project.prompt("Hi")

    assert in_project.settings.get("otel.content") is None
    assert "gen_ai.input.messages" not in (await seen.named("chat rules")).attributes


@pytest.fixture
def disabled(seen, monkeypatch):
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")


@pytest.mark.pi(settings={"otel": {"enabled": True}})
async def test_the_variable_that_disables_wins_and_nothing_is_handled(disabled, seen, pi_session, script):
    script.turn(text("Hello."))

    await pi_session.prompt("Hi")

    assert not any(each.plugin == "otel" for each in pi_session.hooks.counters())
    assert telemetry().sessions == 0


async def test_a_session_without_a_prompt_imports_no_sdk_at_its_end(seen, tmp_path):
    settings = Settings.load(tmp_path, tmp_path / "agent", trust=False)
    async with create_agent_session(model="offline/rules", cwd=tmp_path, settings=settings) as session:
        assert telemetry().sessions == 1

    assert any(each.plugin == "otel" for each in session.hooks.counters())
    assert telemetry().sessions == 0
    assert telemetry()._thread is None


RUN = """
import asyncio, os, sys
from pi_core import create_agent_session

def ask(pi):
    @pi.on("agent_end")
    async def end(event, ctx):
        assert await ctx.trace_context() == {}

async def main():
    plugins = [ask] if "ASK" in os.environ else []
    async with create_agent_session(model="offline/rules", cwd=sys.argv[1], extension_factories=plugins) as session:
        await session.prompt("Hi")

asyncio.run(main())
print(sorted(name for name in sys.modules if name.startswith(("opentelemetry", "pi_otel", "google.protobuf"))))
"""


@pytest.fixture
def imports(tmp_path):
    """Return what a new interpreter has imported of this plugin and OpenTelemetry after a prompt."""

    def run(**environ):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "PI_", "TRACE"))}
        home = {"HOME": str(tmp_path), "PI_CODING_AGENT_DIR": str(tmp_path / "agent")}
        command = [sys.executable, "-c", RUN, str(tmp_path)]
        done = subprocess.check_output(command, env={**kept, **home, **environ}, text=True, timeout=PATIENCE)
        return done.splitlines()[-1]

    return run


@pytest.mark.slow
def test_nothing_is_imported_when_off(imports):
    imports()  # the first start has no index yet and imports every plugin to make it

    assert imports() == "[]"
    assert "opentelemetry" not in imports(OTEL_TRACES_EXPORTER="none")
    assert imports(ASK="for the trace context") == "['pi_otel']"


def test_every_name_of_the_conventions_is_one():
    known = {
        value
        for module in (gen_ai_attributes, mcp_attributes, gen_ai_metrics)
        for value in vars(module).values()
        if isinstance(value, str)
    }
    used = {value for value in vars(names).values() if isinstance(value, str) and value.startswith(("gen_ai.", "mcp."))}

    assert used - known == {names.AGENT_DURATION, names.TOOL_DURATION}
