"""The index: starting imports no plugin, and what has changed is looked at again."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pi_core.conversation.toolbox import Toolbox
from pi_core.host.index import IndexFile
from pi_testing.patience import PATIENCE

LISTENS = "@hookimpl\ndef turn_start(event): pass\n"


@pytest.fixture
def index(site):
    """Return the index file, which there is one of."""

    def path() -> Path:
        (found,) = (site.agent_dir / "cache").iterdir()
        return found

    return path


@pytest.fixture
def looked_into(site):
    """Return which plugins a new host imports to answer what is installed."""

    def by(*disabled: str) -> set[str]:
        _ = site.host(*disabled).records
        return {name.rpartition("_")[0] for name in site.imported()}

    return by


def later(path: Path) -> None:
    """Let a file or folder be changed one second later than it was."""
    time = path.stat().st_mtime_ns + 1_000_000_000
    os.utime(path, ns=(time, time))


# Warm


def test_a_warm_index_imports_nothing_and_knows_the_same(site, tool_plugin, looked_into):
    site.install("acme", tool_plugin("grep", "ls") + LISTENS)
    site.install("broken", "raise RuntimeError\n")
    cold = site.host()
    before = {name: record.to_plain() for name, record in cold.records.items()}

    assert looked_into() == set()
    warm = site.host()
    assert {name: record.to_plain() for name, record in warm.records.items()} == before
    assert list(warm.records) == list(before)
    assert warm.problems == cold.problems
    assert [record.name for record in warm.registering("register_tools", "ls")] == ["acme"]


def test_a_warm_index_loads_only_what_is_asked_for(site, tool_plugin):
    one, two = (site.install(name, tool_plugin(name)) for name in ("one", "two"))
    three = site.install("three", LISTENS)
    _ = site.host().records

    host = site.host()
    found = host.find("register_tools", "one")
    first = site.imported()
    host.load_listeners()

    assert found is not None
    assert first == [one.stem]
    assert set(site.imported()) == {one.stem, three.stem}
    assert two.stem not in sys.modules


def test_what_is_wrong_with_a_plugin_is_reported_once_when_it_is_loaded_from_the_index(site, problems):
    site.install(
        "almost",
        "@hookimpl\ndef turn_stat(event): pass\n\n@hookimpl\ndef register_tools():\n    return [object(), object()]\n",
    )
    cold = site.host()
    reported = problems(cold)

    warm = site.host()
    warm.load("almost")

    assert len(reported) == 2
    assert [(plugin, step) for plugin, step, _ in problems(warm)] == [(plugin, step) for plugin, step, _ in reported]


def test_what_broke_after_the_index_was_written_is_reported_when_it_is_loaded(site, problems, tool_plugin):
    file = site.install("acme", tool_plugin("grep"))
    _ = site.host().records
    file.write_text("raise RuntimeError('gone bad')\n")

    host = site.host()

    assert problems(host) == []
    assert host.find("register_tools", "grep") is None
    ((plugin, step, message),) = problems(host)
    assert (plugin, step) == ("acme", "import")
    assert message.startswith("not loaded: RuntimeError: gone bad")


def test_a_tool_that_was_rejected_stays_away_when_its_plugin_is_loaded_from_the_index(site, tool_plugin):
    bad = "Tool(name='bad', description='', parameters={'type': 'object', 'properties': 7}, execute=run)"
    site.install("acme", tool_plugin("well").replace("return [", f"return [{bad}, "))
    _ = site.host().records

    host = site.host()

    assert host.find("register_tools", "well") is not None
    assert host.find("register_tools", "bad") is None
    assert [each.name for each in host.registrations("register_tools")] == ["well"]


@pytest.mark.slow
@pytest.mark.parametrize("question", ["records", "registering", "owners", "indexed"])
def test_fifty_plugins_that_fail_on_import_and_a_healthy_one_cost_no_import_when_warm(site, tool_plugin, question):
    for number in range(50):
        site.install(
            f"broken-{number}", "import sys\nprint('imported', __name__, file=sys.stderr)\nraise SystemExit(7)\n"
        )
    site.install("well", "import sys\nprint('imported', __name__, file=sys.stderr)\n" + tool_plugin("grep") + LISTENS)
    script = f"""
import sys
sys.path.insert(0, {str(site.folder)!r})
from importlib.metadata import entry_points
from pathlib import Path
from pi_core.host import PluginHost
from pi_core.settings import Settings
own = [each.name for each in entry_points(group="pi") if not each.name.startswith(("broken-", "well"))]
host = PluginHost(Settings.in_memory({{}}, {str(site.agent_dir)!r}), disabled=own)
asked = {{
    "records": lambda: [name for name in host.records if name not in own],
    "registering": lambda: [record.name for record in host.registering("register_tools")],
    "owners": lambda: list(host.owners("register_tools")),
    "indexed": lambda: [record.name for record in host.indexed()],
}}
print(len(asked[sys.argv[1]]()), sorted({{"jsonschema", "importlib_metadata"}} & set(sys.modules)))
if "load" in sys.argv:
    host.load_listeners()
    print([each.plugin for each in host.dispatcher(print).implementations("turn_start")])
"""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", script, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)

    cold, warm, used = run("records"), run(question), run("records", "load")

    assert cold.stderr.count("imported") == 51
    assert warm.stderr == ""
    assert warm.stdout == f"{1 if question in ('registering', 'owners') else 51} []\n"
    assert used.stdout == "51 []\n['well']\n"
    assert used.stderr.count("imported") == 1


# What makes it look again


def test_a_new_plugin_and_one_that_is_gone_are_noticed(site, looked_into):
    site.install("one", LISTENS)
    _ = site.host().records
    two = site.install("two", LISTENS)

    assert looked_into() == {"one", "two"}
    for file in (two, *(site.folder / "two-1.0.dist-info").iterdir()):
        file.unlink()
    (site.folder / "two-1.0.dist-info").rmdir()
    assert "two" not in site.host().records


def test_a_change_of_the_metadatas_time_is_noticed(site, looked_into):
    site.install("one", LISTENS)
    _ = site.host().records

    later(site.folder / "one-1.0.dist-info")

    assert looked_into() == {"one"}
    assert looked_into() == set()


def test_a_pth_file_that_changes_is_noticed(site, looked_into):
    site.install("one", LISTENS)
    _ = site.host().records

    (site.folder / "extra.pth").write_text("/somewhere\n")

    assert looked_into() == {"one"}
    assert looked_into() == set()


def test_another_sys_path_has_an_index_of_its_own(site, looked_into, tmp_path, monkeypatch):
    site.install("one", LISTENS)
    _ = site.host().records

    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        assert looked_into() == {"one"}
        assert looked_into() == set()

    assert looked_into() == set()
    assert len(list((site.agent_dir / "cache").iterdir())) == 2


def test_the_source_of_an_installed_plugin_is_not_looked_at(site, looked_into):
    file = site.install("one", LISTENS)
    _ = site.host().records

    later(file)

    assert looked_into() == set()


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A folder with the source of editable plugins."""
    folder = tmp_path / "source"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.mark.slow
def test_an_editable_plugin_is_looked_at_again_when_its_source_changes(site, source, looked_into, tool_plugin):
    site.install("other", LISTENS)
    file = site.install("one", tool_plugin("grep"), folder=source)
    _ = site.host().records
    assert looked_into() == set()

    file.write_text(file.read_text().replace("'grep'", "'find'"))
    later(file)

    assert looked_into() == {"one"}
    assert site.host().records["one"].names("register_tools") == ["find"]
    assert looked_into() == set()


@pytest.mark.parametrize("entry", ["acme_editable", "acme_editable._inner:plugin"])
@pytest.mark.parametrize("changed", ["__init__.py", "_inner.py", "deep/__init__.py", "models.json"])
def test_every_file_of_an_editable_package_counts(site, source, changed, entry):
    package = source / "acme_editable"
    (package / "deep").mkdir(parents=True)
    hook = "from pi_hookspecs import hookimpl\n" + LISTENS
    (package / "__init__.py").write_text(hook)
    (package / "_inner.py").write_text(f"{hook}import sys\nplugin = sys.modules[__name__]\n")
    (package / "deep" / "__init__.py").write_text("")
    (package / "models.json").write_text("{}")
    site.metadata("acme", {"acme": entry})
    _ = site.host().records
    _ = (warm := site.host()).records
    cold_modules = [name for name in site.imported() if name.startswith("acme_editable")]

    later(package / changed)
    _ = site.host().records

    assert cold_modules == []
    assert warm.records["acme"].loads
    assert "acme_editable" in site.imported()


def test_a_table_that_is_added_to_an_editable_package_is_noticed(site, source):
    package = source / "acme_tables"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text(
        "from pathlib import Path\nfrom pi_hookspecs import ProviderInfo, hookimpl\n\n"
        "@hookimpl\ndef register_models():\n"
        "    tables = sorted((Path(__file__).parent / 'data').glob('*.json'))\n"
        "    return [ProviderInfo(id=each.stem, name=each.stem, api='x') for each in tables]\n"
    )
    (package / "data" / "one.json").write_text("{}")
    site.metadata("acme", {"acme": "acme_tables"})
    assert site.host().records["acme"].names("register_models") == ["one"]

    (package / "data" / "two.json").write_text("{}")
    later(package / "data")

    assert site.host().records["acme"].names("register_models") == ["one", "two"]


@pytest.mark.parametrize("mistake", ["def broken(:\n", "raise RuntimeError\n"], ids=["SyntaxError", "raises"])
def test_an_editable_plugin_that_could_not_be_imported_is_tried_again_when_it_was_mended(
    site, source, problems, looked_into, mistake
):
    file = site.install("one", LISTENS, folder=source)
    well = file.read_text()
    file.write_text(mistake)
    assert not site.host().records["one"].loads
    assert looked_into() == set()

    file.write_text(well)
    later(file)

    host = site.host()
    assert host.records["one"].loads
    assert problems(host) == []


def test_a_plugin_whose_module_was_missing_is_tried_again(site, source):
    site.metadata("one", {"one": "module_that_comes_later"})
    assert not site.host().records["one"].loads

    (source / "module_that_comes_later.py").write_text("from pi_hookspecs import hookimpl\n" + LISTENS)

    assert site.host().records["one"].loads


# Disabled plugins


def test_a_plugin_that_was_disabled_is_looked_into_when_it_is_enabled(site, looked_into, tool_plugin):
    site.install("one", tool_plugin("grep"))
    site.install("two", LISTENS)

    assert looked_into("one") == {"two"}
    assert not site.host("one").records["one"].indexed
    assert looked_into() == {"one"}
    assert site.host().records["one"].names("register_tools") == ["grep"]
    assert looked_into() == set()


def test_disabling_an_indexed_plugin_costs_no_new_look_and_hides_what_it_registers(site, looked_into, tool_plugin):
    site.install("one", tool_plugin("grep"))
    _ = site.host().records

    assert looked_into("one") == set()
    assert site.host("one").find("register_tools", "grep") is None
    assert looked_into() == set()


# The file


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff\xfe",
        b"{",
        b"[]",
        b"null",
        b"7",
        b'{"format": 1}',
        b'{"format": 999999, "marks": [], "plugins": [], "problems": []}',
    ],
)
def test_a_file_that_is_no_index_is_replaced(site, index, looked_into, content):
    site.install("one", LISTENS)
    _ = site.host().records
    whole = index().read_bytes()
    index().write_bytes(content)

    assert looked_into() == {"one"}
    assert len(index().read_bytes()) >= len(whole) - 20
    assert looked_into() == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("plugins", None),
        ("plugins", [7]),
        ("plugins", [{}]),
        ("plugins", {"name": "one"}),
        ("problems", [[1]]),
        ("problems", 7),
        ("marks", []),
        ("format", "1"),
        ("format", 0),
    ],
)
def test_an_index_of_another_shape_is_replaced(site, index, looked_into, key, value):
    site.install("one", LISTENS)
    _ = site.host().records
    content = json.loads(index().read_bytes())
    index().write_text(json.dumps({**content, key: value}))

    assert looked_into() == {"one"}
    assert looked_into() == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "field",
    ["name", "distribution", "version", "value", "hooks", "registers", "problems", "rejected", "loads", "files", "new"],
)
def test_a_record_with_a_field_of_another_type_is_made_anew(site, index, looked_into, field):
    site.install("one", LISTENS)
    _ = site.host().records
    content = json.loads(index().read_bytes())
    for record in content["plugins"]:
        record[field] = 7
    index().write_text(json.dumps(content))

    assert looked_into() == {"one"}
    assert looked_into() == set()


@pytest.mark.slow
def test_every_cut_of_the_file_is_noticed(site, index, looked_into):
    site.install("one", LISTENS)
    _ = site.host().records
    whole = index().read_bytes()

    for length in range(0, len(whole), max(1, len(whole) // 20)):
        index().write_bytes(whole[:length])
        assert looked_into() == {"one"}


@pytest.mark.slow
@pytest.mark.parametrize("where", ["a file in the way", "a file as cache", "a folder in the way", "no such device"])
def test_without_a_folder_to_write_to_everything_works_and_is_looked_at_each_time(site, looked_into, where):
    site.install("one", LISTENS)
    if where == "a file in the way":
        site.agent_dir.write_text("")
    elif where == "a file as cache":
        site.agent_dir.mkdir()
        (site.agent_dir / "cache").write_text("")
    elif where == "a folder in the way":
        IndexFile(site.agent_dir).path.mkdir(parents=True)
    else:
        site.agent_dir = Path("/proc/self/nothing/here")

    assert looked_into() == {"one"}
    assert looked_into() == {"one"}
    assert site.host().records["one"].hooks == ["turn_start"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not hold for root")
def test_a_folder_without_permission_to_write_is_no_error(site, looked_into):
    site.install("one", LISTENS)
    site.agent_dir.mkdir(mode=0o500)

    assert looked_into() == {"one"}
    site.agent_dir.chmod(0o700)


def test_a_draft_that_could_not_take_its_place_is_not_left_behind(site):
    site.install("one", LISTENS)
    IndexFile(site.agent_dir).path.mkdir(parents=True)

    _ = site.host().records

    assert [each.name for each in (site.agent_dir / "cache").iterdir()] == [IndexFile(site.agent_dir).path.name]


@pytest.mark.slow
def test_many_writers_leave_a_whole_file(site, index):
    site.install("one", LISTENS)
    host = site.host()
    records = list(host.records.values())
    found = IndexFile(site.agent_dir)
    marks: list[list[str | int]] = [["x" * 100, "y", number] for number in range(500)]
    seen: list[object] = []

    def write() -> None:
        for _ in range(20):
            found.write(marks, records, [])
            seen.append(found.read(marks))

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(seen) == 160
    assert None not in seen
    assert index() == found.path


@pytest.mark.slow
def test_many_processes_may_start_at_once(site):
    site.install("one", LISTENS)
    script = f"""
import sys
sys.path.insert(0, {str(site.folder)!r})
from importlib.metadata import entry_points
from pi_core.host import PluginHost
from pi_core.settings import Settings
own = [each.name for each in entry_points(group="pi") if each.name != "one"]
print(PluginHost(Settings.in_memory({{}}, {str(site.agent_dir)!r}), disabled=own).records["one"].hooks)
"""
    started = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(4)
    ]

    assert [process.communicate(timeout=PATIENCE)[0] for process in started] == ["['turn_start']\n"] * 4
    assert len(list((site.agent_dir / "cache").iterdir())) == 1


# Asking without writing


def test_indexed_never_imports_and_never_writes(site, tool_plugin):
    site.install("one", tool_plugin("grep"))

    cold = site.host().indexed()
    nothing = site.imported(), site.agent_dir.exists()
    _ = site.host().records
    warm = site.host("two")

    assert cold == []
    assert nothing == ([], False)
    assert [record.name for record in warm.indexed()] == ["one"]
    site.install("two", LISTENS)
    assert site.host().indexed() == []


def test_the_agent_folder_is_the_user_s_alone(tmp_path):
    folder = tmp_path / "agent"

    IndexFile(folder).write([], [], [])

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert any((folder / "cache").iterdir())


def test_a_plugin_of_deferred_tools_is_not_imported_for_what_is_offered(site):
    site.install(
        "docs",
        """
        async def run(*_): ...

        @hookimpl
        def register_tools():
            return [
                Tool(
                    name="look",
                    description="",
                    parameters={"type": "object"},
                    execute=run,
                    exposure="deferred",
                    namespace="docs",
                )
            ]
        """,
    )
    assert site.host().records["docs"].registers["register_tools"][0]["namespace"] == "docs"

    offered = Toolbox(site.host()).active()

    assert [tool.name for tool in offered] == []
    assert site.imported() == []
