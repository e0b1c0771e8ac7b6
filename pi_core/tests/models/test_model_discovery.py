"""Discovery of the models of local servers: only when needed, concurrently, with one deadline."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from attrs import evolve

from pi_core import ModelRegistry, PluginHost, Settings
from pi_hookspecs import Model, ModelDiscovery, NoModel, ProviderInfo, UnknownName, UserError, hookimpl
from pi_testing.patience import PATIENCE


def row(provider, *ids, **fields):
    fields = {"base_url": f"http://{provider}.test", "keyless": True, **fields}
    models = tuple(Model(id=each, name=each, api="chat", provider=provider) for each in ids)
    return ProviderInfo(**{"id": provider, "name": provider, "api": "chat", "models": models, **fields})


class Servers:
    """A plugin: rows of providers, and who speaks their API. ``there`` are the models of servers that run."""

    def __init__(self, *rows):
        self.rows = rows
        self.there = {}
        self.asked = []
        self.options = []
        self.api = "chat"

    @hookimpl
    def register_models(self):
        return [*self.rows]

    @hookimpl
    def register_providers(self):
        return [self]

    def stream(self, model, context, options):
        raise NotImplementedError

    async def discover(self, provider, options):
        self.asked.append(provider.id)
        self.options.append(options)
        answer = self.there.get(provider.id, ())
        if callable(answer):
            answer = await answer()
        if not isinstance(answer, tuple):
            return answer
        return evolve(provider, models=tuple(evolve(provider.custom_model(each), context_window=9) for each in answer))


@pytest.fixture
def servers():
    return Servers(
        row("box"),
        row("den"),
        row("cloud", "big", "big-box-2", keyless=False, key_variables=("CLOUD_API_KEY",)),
        row("toy", "rules"),
        row("shut", keyless=False),
        row("mute", api="silent"),
    )


@pytest.fixture
def registry(tmp_path, servers):
    def make(file=None, settings=None, **environ):
        if file is not None:
            (tmp_path / "models.json").write_text(json.dumps({"providers": file}))
        settings = Settings.in_memory(settings or {}, agent_dir=tmp_path)
        host = PluginHost(settings, installed=False)
        host.add(servers, "servers")
        return ModelRegistry(host, settings, environ)

    return make


def test_a_discovering_provider_implements_the_protocol(servers):
    assert isinstance(servers, ModelDiscovery)


async def test_only_keyless_providers_without_models_are_discovered(registry, servers):
    servers.there = {"box": ("qwen:8b", "llama")}
    models = registry()

    found = await models.discover()

    assert sorted(servers.asked) == ["box", "den"]
    assert [each.id for each in found] == ["box"]
    assert [each.reference for each in models.get_models("box")] == ["box/qwen:8b", "box/llama"]
    assert {each.reference for each in models.available()} == {"box/qwen:8b", "box/llama", "toy/rules"}
    assert models.warnings == []


async def test_selected_providers_can_be_discovered_again(registry, servers):
    models = registry()

    assert await models.discover(["box"]) == []
    servers.there = {"box": ("new",), "den": ("other",)}
    await models.discover(["box", "cloud", "unknown"])
    servers.there = {}
    await models.discover(["box"])

    assert servers.asked == ["box", "box", "box"]
    assert models.get_models("box") == []


async def test_a_server_that_misses_the_deadline_is_cancelled(registry, servers):
    ended = []

    async def silence():
        try:
            await asyncio.sleep(600)
        finally:
            ended.append("box")

    servers.there = {"box": silence, "den": ("quick",)}
    models = registry()

    found = await models.discover(seconds=0.05)

    assert [each.id for each in found] == ["den"]
    assert ended == ["box"]
    assert {options.timeout_ms for options in servers.options} == {45}


async def test_time_in_which_the_event_loop_is_blocked_does_not_count(registry, servers):
    async def imports_first():
        time.sleep(0.6)  # noqa: ASYNC251 - as an import does
        for _ in range(10):
            await asyncio.sleep(0)
        return ("there",)

    servers.there = {"box": imports_first}

    assert [each.id for each in await registry().discover(seconds=0.5)] == ["box"]


async def test_a_query_that_resists_cancellation_is_abandoned(registry, servers):
    free = asyncio.Event()

    async def stubborn():
        while not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                continue
        return ()

    servers.there = {"box": stubborn}
    found = await asyncio.wait_for(registry().discover(seconds=0.01), PATIENCE)
    free.set()

    assert found == []


async def fail():
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (fail, "SystemExit: 3"),
        (None, "its plugin returned None, which is not the ProviderInfo of"),
        (["x"], "its plugin returned ['x'], which is not the ProviderInfo of"),
        (row("den", "m"), "which is not the ProviderInfo of"),
    ],
    ids=["raises", "None", "a list", "another row"],
)
async def test_a_failing_plugin_is_reported_and_others_are_discovered(registry, servers, answer, message):
    servers.there = {"box": answer, "den": ("fine",)}
    models = registry()

    assert [each.id for each in await models.discover()] == ["den"]
    (warning,) = models.warnings
    assert warning.startswith("Provider 'box' cannot be asked for its models: ")
    assert message in warning


# models.json


async def test_models_json_overrides_discovered_models(registry, servers):
    servers.there = {"box": ("a", "b")}
    models = registry(
        {
            "box": {
                "baseUrl": "http://moved.test",
                "apiKey": "$BOX_KEY",
                "headers": {"x-team": "$TEAM"},
                "models": [{"id": "b", "contextWindow": 70_000}, {"id": "own"}],
                "modelOverrides": {"a": {"contextWindow": 60_000}},
            }
        },
        BOX_KEY="k",
        TEAM="t",
    )

    await models.discover()

    assert {each.id: each.context_window for each in models.get_models("box")} == {
        "a": 60_000,
        "b": 70_000,
        "own": 128_000,
    }
    assert {each.base_url for each in models.get_models("box")} == {"http://moved.test"}
    assert [(each.api_key, each.headers) for each in servers.options if each.api_key] == [("k", {"x-team": "t"})]


async def test_a_server_of_models_json_is_discovered(registry, servers, tmp_path):
    servers.there = {"mine": ("m",)}
    models = registry({"mine": {"baseUrl": "http://mine.test", "api": "chat", "keyless": True}})

    assert [each.id for each in await models.discover(["mine"])] == ["mine"]
    assert await models.discover(["mine"]) != []
    assert models.find("mine/m").context_window == 9

    (tmp_path / "models.json").write_text("{}")
    assert models.get_models("mine") == []
    assert "mine" not in models.get_providers()


async def test_a_server_registered_at_run_time_is_discovered(registry, servers):
    servers.there = {"late": ("m",), "other": ("n",)}
    models = registry()
    take_back = models.register_provider("late", row("late"))
    models.register_provider("other", {"baseUrl": "http://other.test", "api": "chat", "keyless": True})

    assert {each.id for each in await models.discover()} == {"late", "other"}
    assert models.find("late/m").context_window == 9
    assert models.find("n").reference == "other/n"
    take_back()
    assert models.get_models("late") == []


async def test_a_header_that_cannot_be_resolved_is_reported(registry, servers):
    models = registry({"box": {"headers": {"x-team": "$TEAM"}}})

    await models.discover(["box"])

    (warning,) = models.warnings
    assert warning.startswith("Provider 'box' cannot be asked for its models: Set TEAM: the header 'x-team'")


# Names


@pytest.mark.parametrize(
    ("name", "provider", "environ"),
    [
        ("cloud/big", None, {"CLOUD_API_KEY": "k"}),
        ("cloud/big:high", None, {}),
        ("cloud/unheard-of", None, {}),
        ("big", None, {"CLOUD_API_KEY": "k"}),
        ("big", "cloud", {}),
        ("toy/rules", None, {}),
        ("rules", None, {}),
        (None, None, {"CLOUD_API_KEY": "k"}),
    ],
)
async def test_no_server_is_asked_for_a_known_model(registry, servers, name, provider, environ):
    models = registry(settings=None if name else {"defaultModel": "cloud/big"}, **environ)

    assert await models.resolve(name, provider)
    assert servers.asked == []


@pytest.mark.parametrize(
    ("name", "provider", "meant", "asked"),
    [
        ("box/qwen:8b", None, "box/qwen:8b", ["box"]),
        ("BOX/qwen", None, "box/qwen:8b", ["box"]),
        ("qwen", "box", "box/qwen:8b", ["box"]),
        ("box/qwen", "box", "box/qwen:8b", ["box"]),
        (None, "box", "box/qwen:8b", ["box"]),
        ("qwen:8b", None, "box/qwen:8b", ["box", "den"]),
        ("qwen", None, "box/qwen:8b", ["box", "den"]),
        ("big-box", None, "den/my-big-box", ["box", "den"]),
    ],
)
async def test_servers_that_may_know_a_name_are_asked(registry, servers, name, provider, meant, asked):
    servers.there = {"box": ("qwen:8b",), "den": ("my-big-box",)}

    assert (await registry().resolve(name, provider)).model.reference == meant
    assert sorted(servers.asked) == asked


@pytest.mark.parametrize(
    "settings", [{"defaultModel": "box/qwen"}, {"defaultModel": "qwen"}, {"defaultProvider": "box"}]
)
async def test_the_default_model_can_be_a_discovered_one(registry, servers, settings):
    servers.there = {"box": ("qwen:8b",)}

    assert (await registry(settings=settings).resolve()).model.reference == "box/qwen:8b"


async def test_a_model_that_its_server_does_not_list_is_used_anyway(registry, servers):
    servers.there = {"box": ("qwen:8b",)}
    models = registry()

    assert (await models.resolve("box/later:low")) == (models.find("box/later"), "low")
    assert models.warnings == ['Model "later" not found for provider "box". Using custom model id.']


async def test_a_server_without_a_list_of_models_may_have_any(registry):
    models = registry()

    assert (await models.resolve("box/later:low")) == (models.find("box/later"), "low")
    assert models.warnings == []


async def test_models_that_the_user_listed_need_no_server(registry, servers):
    models = registry({"box": {"models": [{"id": "mine"}]}})

    assert (await models.resolve("box/mine")).model.id == "mine"
    assert servers.asked == []


async def test_an_unknown_model_is_reported_as_without_servers(registry):
    with pytest.raises(UnknownName, match="Unknown model: qwen"):
        await registry().resolve("qwen")
    with pytest.raises(UnknownName, match=r"Unknown provider: boxx. Did you mean box"):
        await registry().resolve("qwen", "boxx")
    with pytest.raises(NoModel, match=r"'box' lists no models, and no server at http://box.test lists any"):
        await registry().resolve(None, "box")
    with pytest.raises(NoModel, match="No API key found"):
        await registry().resolve()


async def test_a_running_server_decides_between_providers_without_keys(registry, servers):
    servers.rows = (*servers.rows, row("mist", "big", keyless=False, key_variables=("MIST_KEY",)))
    servers.there = {"den": ("big",)}
    models = registry()

    with pytest.raises(UserError, match="may mean cloud/big or mist/big"):
        models.find("big")
    assert (await models.resolve("big")).model.reference == "den/big"
