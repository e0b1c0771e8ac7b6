"""A session's requests carry key, headers and base URL of their model, and nothing else discloses the key."""

from __future__ import annotations

import asyncio
import json

import pytest
from attrs import evolve

from pi_core import AuthStorage, ModelRegistry, PluginHost, Settings, create_agent_session
from pi_core.wire import to_wire
from pi_hookspecs import hookimpl
from pi_testing import ScriptedProvider, text

SECRET = "sk-0123456789"


class Locked(ScriptedProvider):
    """A scripted provider that needs a key."""

    def __init__(self):
        super().__init__()
        self.info = evolve(
            self.info, keyless=False, key_variables=("SCRIPTED_API_KEY",), models=(evolve(self.model, base_url="u"),)
        )


@pytest.fixture
async def create(tmp_path):
    made = []

    def make(script, name="agent", providers=None, settings=None, **options):
        agent_dir = tmp_path / name
        agent_dir.mkdir(exist_ok=True)
        if providers is not None:
            (agent_dir / "models.json").write_text(json.dumps({"providers": providers}))
        settings = Settings.in_memory(settings or {}, agent_dir=agent_dir)
        defaults = {
            "cwd": tmp_path,
            "settings": settings,
            "host": PluginHost(settings, installed=False),
            "plugins": {"script": script},
            "model": "scripted/model",
            "environ": {},
        }
        made.append(create_agent_session(**{**defaults, **options}))
        return made[-1]

    yield make
    for session in made:
        await session.dispose()


async def ask(session, script, words="hi"):
    script.turn(text("ok"))
    await session.prompt(words)
    return script.requests[-1]


async def test_two_sessions_in_one_process_have_keys_of_their_own(create):
    scripts = [Locked(), Locked(), Locked()]
    stored = AuthStorage.in_memory({"scripted": {"type": "api_key", "key": "two"}})
    sessions = [
        create(scripts[0], "a", environ={"SCRIPTED_API_KEY": "one"}),
        create(scripts[1], "b", auth_storage=stored),
        create(scripts[2], "c", providers={"scripted": {"apiKey": "three", "baseUrl": "https://three.test"}}),
    ]
    requests = await asyncio.gather(*map(ask, sessions, scripts))

    assert [each.options.api_key for each in requests] == ["one", "two", "three"]
    assert [each.model.base_url for each in requests] == ["u", "u", "https://three.test"]


async def test_one_store_of_keys_may_serve_sessions_with_other_models_files(create):
    scripts, shared = [Locked(), Locked()], AuthStorage.in_memory()
    sessions = [
        create(script, name, {"scripted": {"apiKey": name}}, auth_storage=shared)
        for script, name in zip(scripts, ("a", "b"), strict=True)
    ]
    requests = await asyncio.gather(*map(ask, sessions, scripts))

    assert [each.options.api_key for each in requests] == ["a", "b"]


async def test_a_request_is_made_as_the_user_configured_it(create):
    script = Locked()
    session = create(
        script,
        providers={"scripted": {"apiKey": "k", "authHeader": True, "headers": {"x-team": "$TEAM"}, "transport": "sdk"}},
        settings={"httpIdleTimeoutMs": 1000},
        environ={"TEAM": "blue", "PI_CACHE_RETENTION": "none"},
    )
    options = (await ask(session, script)).options

    assert options.headers == {"Authorization": "Bearer k", "x-team": "blue"}
    assert (options.timeout_ms, options.cache_retention, options.transport) == (1000, "none", "sdk")
    assert options.session_id == session.session_id
    assert options.signal is not None


async def test_a_changed_models_file_counts_from_the_next_request_on(create, tmp_path):
    script = Locked()
    session = create(script, providers={"scripted": {"apiKey": "old"}})
    await ask(session, script)
    (tmp_path / "agent" / "models.json").write_text(json.dumps({"providers": {"scripted": {"apiKey": "newer"}}}))
    await ask(session, script)

    assert [each.options.api_key for each in script.requests] == ["old", "newer"]


async def test_a_key_command_that_fails_is_a_failed_answer(create):
    script = Locked()
    session = create(script, providers={"scripted": {"apiKey": "!exit 3"}}, environ={"PATH": "/bin:/usr/bin"})
    answer = await session.prompt("hi")

    assert answer.stop_reason == "error"
    assert "exit code 3" in answer.error_message
    assert script.requests == []


async def test_a_registry_may_be_given(create, tmp_path):
    script = Locked()
    settings = Settings.in_memory({}, agent_dir=tmp_path)
    host = PluginHost(settings, installed=False)
    registry = ModelRegistry(host, settings, {})
    registry.auth.set_runtime_api_key("scripted", "k")
    session = create(script, host=None, model_registry=registry)

    assert session.host is host
    assert (await ask(session, script)).options.api_key == "k"


async def test_the_key_is_in_no_event_no_entry_no_trace_and_no_repr(create, caplog):
    seen, traced = [], []

    class Watches:
        @hookimpl
        def before_provider_request(self, event):
            seen.append(repr(event))

        @hookimpl
        def after_provider_response(self, event):
            seen.append(repr(event))

    script = Locked()
    caplog.set_level(0)
    session = create(
        script,
        providers={"scripted": {"apiKey": SECRET, "authHeader": True, "headers": {"x-key": f"$SECRET-{SECRET}"}}},
        environ={"SECRET": SECRET},
        plugins={"script": script, "watches": Watches()},
        trace=traced.append,
    )
    session.subscribe(seen.append)
    request = await ask(session, script)
    auth = await session.models.get_api_key_and_headers(session.model)
    entries = session.session_manager.get_branch()

    assert request.options.headers["x-key"] == f"{SECRET}-{SECRET}"
    assert traced
    watched = [seen, traced, entries, auth, request, request.options, session.models, session.models.auth]
    watched += [session.models.provider("scripted"), request.model, session.model]
    for each in watched:
        assert SECRET not in repr(each)
    assert all(SECRET not in json.dumps(to_wire(each), default=repr) for each in entries)
    assert SECRET not in caplog.text
