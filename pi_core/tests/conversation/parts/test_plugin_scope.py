"""``PluginScope`` and the resources of a session alone: what plugins hold, and what they add."""

from __future__ import annotations

import pytest

from pi_core.conversation.resources import discover_resources, report_problems
from pi_hookspecs import AbortSignal, ResourcesDiscoverResult, StaleObject, ToolCall


async def test_a_renewed_scope_has_a_new_ctx_and_retires_the_calls_of_tools_too(runtime):
    before = runtime.ctx
    call = runtime.plugins.for_tool_call(ToolCall(id="c1", name="read", arguments={}), print, AbortSignal())
    runtime.plugins.renew("reloaded")

    assert runtime.ctx is not before
    for handle in (before, call):
        with pytest.raises(StaleObject, match="reloaded"):
            handle.model  # noqa: B018 - reading it is the test


async def test_paths_of_plugins_are_searched_for_resources(runtime_of, plugin, tmp_path):
    (tmp_path / "more").mkdir()
    found = []
    answer = ResourcesDiscoverResult(skill_paths=(str(tmp_path / "more"),))
    runtime = runtime_of(plugin(resources_discover=lambda event: answer))
    runtime.resources.extend = lambda kind, paths, name: found.append((kind, list(paths), name))
    await discover_resources(runtime, "startup")

    assert found == [
        ("skill", [str(tmp_path / "more")], "plugin-0"),
        ("prompt", [], "plugin-0"),
        ("theme", [], "plugin-0"),
    ]


def test_a_loader_of_the_program_needs_no_problems():
    class Loader:
        """A loader that reports nothing."""

    loader = Loader()
    report_problems(loader, print)

    assert vars(loader) == {}
