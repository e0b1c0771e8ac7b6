"""The resources of a runtime: paths of plugins, and files that cannot be used."""

from __future__ import annotations

from pi_core.conversation.resources import discover_resources, report_problems
from pi_hookspecs import ResourcesDiscoverResult


async def test_plugins_add_paths_of_themes(runtime_of, plugin, tmp_path):
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "tide.json").write_text('{"name": "tide", "colors": {}}', encoding="utf-8")
    runtime = runtime_of(
        plugin(resources_discover=lambda event, ctx: ResourcesDiscoverResult(theme_paths=(str(folder),)))
    )
    await discover_resources(runtime, "startup")

    assert "tide" in {each.name for each in (await runtime.resources.load("theme")).resources}


async def test_a_file_that_cannot_be_used_is_reported(runtime, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    reported = []
    report_problems(runtime.resources, lambda *what: reported.append(what))
    runtime.resources.extend("theme", (str(broken),), "tides")
    await runtime.resources.load("theme")

    assert [(owner, kind) for owner, kind, _ in reported] == [("(resources)", "theme")]
    assert "broken.json" in reported[0][2]
