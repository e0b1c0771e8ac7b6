"""A provider that hands requests on: another model answers, with its own key and as hard as it can think."""

from __future__ import annotations

import pytest

from pi_core import ModelRegistry, PluginHost, Settings
from pi_hookspecs import Context, MissingKey, Model, ProviderInfo, StreamOptions, UserMessage, hookimpl
from pi_testing import ScriptedProvider, text

ASKED = Context(messages=(UserMessage(content="hi"),))


class Vendor:
    """A provider with a key, whose model the script plays."""

    def __init__(self, **fields):
        self.model = Model(id="m", name="M", api="scripted", provider="vendor", **fields)

    @hookimpl
    def register_models(self):
        row = ProviderInfo(
            id="vendor", name="Vendor", api="scripted", key_variables=("VENDOR_API_KEY",), models=(self.model,)
        )
        return [row]


@pytest.fixture
def registry(tmp_path):
    """Make a registry of the script and a vendor, with these variables set."""

    def registry(script, vendor, **environ):
        settings = Settings.in_memory({}, agent_dir=tmp_path)
        host = PluginHost(settings, installed=False)
        host.add(script, "script")
        host.add(vendor, "vendor")
        return ModelRegistry(host, settings, environ)

    return registry


async def event_types(events):
    return [event.type for event in [event async for event in events]]


async def test_model_is_asked_with_its_own_key_and_without_foreign_headers(registry):
    script, vendor = ScriptedProvider().turn(text("Hello.")), Vendor()
    options = StreamOptions(api_key="of the router", headers={"x-router": "1"}, max_tokens=7)

    types = await event_types(
        registry(script, vendor, VENDOR_API_KEY="of the vendor").stream(vendor.model, ASKED, options)
    )

    sent = script.requests[0].options
    assert types[-1] == "done"
    assert (sent.api_key, sent.max_tokens) == ("of the vendor", 7)
    assert sent.headers is None


@pytest.mark.parametrize(("reasoning", "sent"), [(True, "high"), (False, None)])
async def test_model_thinks_as_hard_as_it_can(reasoning, sent, registry):
    script, vendor = ScriptedProvider().turn(text("Hm.")), Vendor(reasoning=reasoning)

    await event_types(
        registry(script, vendor, VENDOR_API_KEY="k").stream(vendor.model, ASKED, StreamOptions(reasoning="max"))
    )

    assert script.requests[0].options.reasoning == sent


async def test_without_a_key_no_request_is_sent(registry):
    script, vendor = ScriptedProvider(), Vendor()

    with pytest.raises(MissingKey, match="VENDOR_API_KEY"):
        await event_types(registry(script, vendor).stream(vendor.model, ASKED, StreamOptions(api_key="of the router")))

    assert script.requests == []
