"""Every API that the catalogue names is implemented by a plugin."""

from __future__ import annotations

from collections import defaultdict
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import pytest

from pi_core.host.discovery import default_plugins
from pi_hookspecs import Provider

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_hookspecs import ProviderInfo


def answers(hook: str) -> dict[str, Sequence[Any]]:
    """Return what each default plugin that is installed answers to a registration hook, by the plugin's name."""
    own = default_plugins()
    points = {point.name: point for point in entry_points(group="pi") if point.name in own}
    plugins = {name: points[name].load() for name in sorted(points)}
    return {name: getattr(plugin, hook)() for name, plugin in plugins.items() if hasattr(plugin, hook)}


@pytest.fixture(scope="module")
def rows() -> list[ProviderInfo]:
    return [row for answer in answers("register_models").values() for row in answer]


@pytest.fixture(scope="module")
def speakers() -> Mapping[str, list[str]]:
    """The plugins that answer for each API id."""
    found = defaultdict(list)
    for plugin, answer in answers("register_providers").items():
        for provider in answer:
            assert isinstance(provider, Provider), f"{plugin} registers {provider!r}"
            found[provider.api].append(plugin)
    return found


def test_every_provider_and_model_names_an_api_that_a_plugin_speaks(
    rows: list[ProviderInfo], speakers: Mapping[str, list[str]]
) -> None:
    named = defaultdict(set)
    for row in rows:
        for api in {row.api, *(model.api for model in row.models)}:
            named[api].add(row.id)

    assert len(named) > 1
    assert {api: sorted(providers) for api, providers in named.items() if api not in speakers} == {}


def test_no_two_default_plugins_speak_the_same_api(speakers: Mapping[str, list[str]]) -> None:
    assert {api: plugins for api, plugins in speakers.items() if len(plugins) > 1} == {}
