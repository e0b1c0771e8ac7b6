"""Plugins as they are found, loaded one by one, and asked what they register; none can keep the others from working."""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import importlib_metadata
import pytest
from attrs import define

from pi_core.host import PluginHost
from pi_core.host.records import Problem, sentences_of
from pi_core.settings import Settings
from pi_hookspecs import Command, Flag, Mode, Tool, TurnStartEvent, hookimpl
from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from pi_core.hooks.reports import HookFailure

LISTENS = "@hookimpl\ndef turn_start(event): pass\n"


async def run(*_: Any) -> Any: ...


class Plugin:
    """A plugin object that implements each hook with a function."""

    def __init__(self, **functions: Any) -> None:
        for hook, function in functions.items():
            setattr(self, hook, hookimpl(specname=hook)(function))


def a_tool(name: Any = "grep", **fields: Any) -> Tool:
    return Tool(**{"name": name, "description": "-", "parameters": {"type": "object"}, "execute": run, **fields})


# Finding


def test_plugins_are_found_through_their_entry_points(site, tool_plugin):
    site.install("acme-tools", tool_plugin("acme"), distribution="pluggypi-acme", version="2.3")

    record = site.host().records["acme-tools"]

    assert (record.distribution, record.version) == ("pluggypi-acme", "2.3")
    assert record.names("register_tools") == ["acme"]
    assert record.loads
    assert record.indexed
    assert record.load_ms >= 0


def test_a_plugin_is_a_module_or_an_object_in_one(site, problems):
    source = "class Plugin:\n    class inner:\n        @hookimpl\n        def turn_start(self): pass\n"
    site.install("module", LISTENS)
    site.install("object", source + "plugin = Plugin.inner()\n", entry=":plugin")
    site.install("deeper", source + "Plugin.here = Plugin.inner()\n", entry=":Plugin.here")
    site.install("old", LISTENS, entry=" [extra]")

    host = site.host()

    assert problems(host) == []
    assert [host.records[name].hooks for name in ("module", "object", "deeper", "old")] == [["turn_start"]] * 4


def test_metadata_that_cannot_be_read_hides_no_other_plugin(site, problems):
    site.install("well", LISTENS)
    broken = site.metadata("broken", {})
    (broken / "entry_points.txt").write_bytes(b"\xff\xfe[pi\n = = \n")
    (site.folder / "empty-1.0.dist-info").mkdir()

    host = site.host()

    assert host.records["well"].loads
    assert all(step == "index" for _, step, _ in problems(host))


def test_of_two_distributions_with_one_plugin_name_one_is_used_and_both_are_named(site, problems, tool_plugin):
    site.install("twin", tool_plugin("two"), distribution="second")
    site.install("twin", tool_plugin("one"), distribution="first")

    host = site.host()

    assert host.records["twin"].distribution == "first"
    assert host.records["twin"].names("register_tools") == ["one"]
    assert problems(host) == [
        (
            "twin",
            "index",
            (
                "two distributions provide this name, 'first' and 'second'; the one from 'first' is used."
                " Uninstall the other"
            ),
        )
    ]


def test_no_other_distribution_takes_the_place_of_the_one_that_is_called_after_the_plugin(site, problems, tool_plugin):
    site.install("twin", tool_plugin("other"), distribution="a-twin")
    site.install("twin", tool_plugin("real"), distribution="Pluggypi.Twin")

    host = site.host()

    assert host.records["twin"].names("register_tools") == ["real"]
    assert "the one from 'Pluggypi.Twin' is used" in problems(host)[0][2]


def test_an_older_copy_of_a_distribution_further_down_the_path_is_not_looked_at(site, problems, tmp_path, monkeypatch):
    site.install("acme", LISTENS, distribution="Acme.Tools", version="1.0")
    below, site.folder = site.folder, tmp_path / "above"
    site.folder.mkdir()
    monkeypatch.syspath_prepend(str(site.folder))
    site.install("acme", LISTENS, distribution="acme-tools", version="2.0")

    host = site.host()

    assert below != site.folder
    assert host.records["acme"].version == "2.0"
    assert problems(host) == []


# Loading


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "import no_such_module_anywhere\n",
            "not loaded: ModuleNotFoundError: No module named 'no_such_module_anywhere'",
        ),
        ("raise RuntimeError('bad day')\n", "not loaded: RuntimeError: bad day"),
        ("raise SystemExit(3)\n", "not loaded: SystemExit: 3"),
        ("def broken(:\n", "not loaded: SyntaxError: invalid syntax"),
        ("import json\njson.loads('{')\n", "not loaded: JSONDecodeError"),
        ("class E(Exception):\n    def __str__(self): raise ValueError\nraise E\n", "not loaded: E: (its message"),
        ("class E(BaseException): pass\nraise E\n", "not loaded: E"),
    ],
    ids=["missing module", "raises", "SystemExit", "SyntaxError", "in a library", "unspeakable", "BaseException"],
)
def test_a_plugin_that_fails_to_import_is_reported_and_the_rest_works(site, problems, tool_plugin, source, message):
    file = site.install("broken", source)
    site.install("well", tool_plugin("grep"))

    host = site.host()

    ((plugin, step, text),) = problems(host)
    assert (plugin, step) == ("broken", "import")
    assert text.startswith(message)
    assert str(file) in text or file.name in text
    assert not host.records["broken"].loads
    assert host.find("register_tools", "grep") is not None


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (":nothing", "has no attribute 'nothing'"),
        (":none", " is None"),
        (":Class", "Class is a class; a plugin is a module or an instance, made with @define(eq=False)"),
        (":unhashable", "cannot be distinguished from its equals; define its class with @define(eq=False)"),
        (":text", "implements no hook; mark its functions with @hookimpl"),
    ],
)
def test_an_entry_point_that_names_no_plugin_object_is_reported(site, problems, entry, message):
    source = """
        from attrs import define

        class Class:
            @hookimpl
            def turn_start(self): pass

        @define
        class Value:
            @hookimpl
            def turn_start(self): pass

        unhashable = Value()
        text = "text"
        none = None
    """
    site.install("odd", source, entry=entry)

    ((plugin, step, text),) = problems(site.host())

    assert (plugin, step) == ("odd", "import")
    assert message in text
    assert "plugin_host.py" not in text


def test_a_module_that_does_not_exist_is_reported(site, problems):
    site.metadata("ghost", {"ghost": "no_such_module_anywhere"})

    ((plugin, _, text),) = problems(site.host())

    assert plugin == "ghost"
    assert text == "not loaded: ModuleNotFoundError: No module named 'no_such_module_anywhere'"


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("source", ["import time\ntime.sleep(600)\n", "while True: pass\n"], ids=["sleeps", "spins"])
def test_an_import_that_hangs_is_broken_off(site, problems, tool_plugin, source):
    site.install("slow", source)
    site.install("well", tool_plugin("grep"))

    host = site.host(hooks={"timeout": 1})

    ((plugin, step, text),) = problems(host)
    assert (plugin, step) == ("slow", "import")
    assert text.startswith("not loaded: importing slow_")
    assert "took longer than 1 s. Disable it with --disable slow" in text
    assert host.find("register_tools", "grep") is not None


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_registration_hook_that_hangs_is_broken_off(site, problems):
    site.install("slow", "import time\n\n@hookimpl\ndef register_tools():\n    time.sleep(600)\n")

    assert problems(site.host(hooks={"timeout": 1})) == [
        (
            "slow",
            "register_tools",
            (
                "register_tools took longer than 1 s. Disable it with --disable slow, or give it more time with the"
                " setting hooks.timeout"
            ),
        )
    ]


def test_what_a_module_holds_besides_functions_is_ignored(site, problems):
    odd = "class Odd:\n    __class__ = property(lambda self: 1 / 0)\n    def __getattr__(self, name): 1 / 0\n"
    site.install("odd", f"{LISTENS}\n{odd}\nodd = Odd()\n")

    host = site.host()

    assert host.records["odd"].hooks
    assert problems(host) == []


def test_ctrl_c_while_a_plugin_is_imported_passes(site):
    site.install("slow", "import signal; signal.default_int_handler(signal.SIGINT, None)\n")

    with pytest.raises(KeyboardInterrupt):
        _ = site.host().records


def test_what_a_plugin_prints_does_not_reach_stdout(site, capsys):
    site.install(
        "chatty", "print('at import')\n\n@hookimpl\ndef register_tools():\n    print('when asked')\n    return []\n"
    )

    _ = site.host().records

    assert capsys.readouterr() == ("", "at import\nwhen asked\n")


def test_one_object_under_two_names_is_registered_once(site, problems):
    file = site.install("one", LISTENS)
    site.metadata("other", {"two": file.stem})

    ((plugin, step, _),) = problems(site.host())

    assert (plugin, step) == ("two", "import")


# Hook implementations


@pytest.mark.parametrize(
    ("source", "hook", "message"),
    [
        ("@hookimpl\ndef turn_stat(event): pass\n", "turn_stat", "Unknown hook: turn_stat. Did you mean turn_start"),
        ("@hookimpl(specname='regster_tools')\ndef f(): pass\n", "regster_tools", "Did you mean register_tools"),
        (
            "@hookimpl\ndef turn_end(event, session): pass\n",
            "turn_end",
            "takes session, but the hook offers only event, ctx: give its parameters these names",
        ),
        (
            "@hookimpl\ndef register_flags(host): pass\n",
            "register_flags",
            "takes host, but the hook offers no arguments",
        ),
        (
            "@hookimpl\ndef turn_end(*, event): pass\n",
            "turn_end",
            "takes event only by keyword, but hooks are called by",
        ),
        (
            "from pluggy import HookimplMarker\n@HookimplMarker('pi')(wrapper=True)\ndef turn_end(event):\n    yield\n",
            "turn_end",
            "wrappers are not supported",
        ),
    ],
    ids=["misspelt", "misspelt specname", "unknown argument", "no arguments", "keyword only", "wrapper"],
)
def test_an_implementation_that_cannot_be_called_is_reported_and_the_others_are_kept(
    site, problems, source, hook, message
):
    file = site.install("almost", source + LISTENS)

    host = site.host()

    ((plugin, step, text),) = problems(host)
    assert (plugin, step) == ("almost", hook)
    assert message in text
    first = 1 + next(n for n, line in enumerate(file.read_text().splitlines()) if line.startswith("@"))
    assert text.endswith(f" (in {file}, line {first})")
    assert host.records["almost"].hooks == ["turn_start"]


def test_a_plugin_whose_only_hook_cannot_be_called_is_not_told_to_mark_one(site, problems):
    site.install("wrong", "@hookimpl\ndef turn_end(event, session): pass\n")

    ((_, step, _),) = problems(site.host())

    assert step == "turn_end"


def test_an_optional_hook_that_does_not_exist_is_no_problem(site, problems):
    site.install("modern", "@hookimpl(optionalhook=True)\ndef hook_of_next_year(event): pass\n" + LISTENS)

    assert problems(site.host()) == []


def test_attributes_that_raise_when_they_are_looked_at_are_no_problem(bare_host, problems):
    @define(eq=False)
    class Odd:
        @property
        def secret(self) -> str:
            raise SystemExit

        @hookimpl
        def turn_start(self) -> None: ...

    bare_host.add(Odd(), "odd")

    assert problems(bare_host) == []
    assert bare_host.dispatcher(pytest.fail).listens("turn_start")


# Registrations


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "async def register_tools(): return []",
            "is async; a registration hook is a plain function that returns a list",
        ),
        ("def register_tools(): return 'grep'", "returned 'grep', not a list"),
        ("def register_tools(): return {'grep': 1}", "returned {'grep': 1}, not a list"),
        ("def register_tools(): return 7", "returned 7, not a list"),
        ("def register_tools(): return Flag(name='x')", "returned Flag(name='x'"),
        ("def register_tools(): raise KeyError('x')", "KeyError: 'x' (in "),
        ("def register_tools(): raise SystemExit", "SystemExit (in "),
        ("def register_tools(): return [None]", "None is not of type Tool"),
        ("def register_tools(): return [Flag(name='x')]", "is not of type Tool"),
        ("def register_tools(): return [Tool]", "is not of type Tool"),
        (
            "def register_commands(): return [Command(name='x', handler='no')]",
            "command 'x': handler is 'no', which is not",
        ),
        ("def register_commands(): return [Command(name='', handler=print)]", "has no name: name is ''"),
        ("def register_flags(): return [Flag(name=None)]", "has no name: name is None"),
        ("def register_flags(): return [Flag(name='x', default=str)]", "flag 'x' cannot be described as JSON"),
        ("def register_modes(): return [Mode('x', run=None)]", "mode 'x': run is None, which is not callable"),
        (
            "def register_modes(): return [Mode('x', run=print, prepare=7)]",
            "mode 'x': prepare is 7, which is not callable",
        ),
        ("def register_providers(): return [object()]", "is not of type Provider"),
        ("def register_session_stores(): return [dict]", "is not of type SessionStore"),
        ("def register_services(): return [7]", "7 is not of type Compactor or BranchSummarizer or Retrier"),
    ],
)
def test_a_registration_that_cannot_be_used_is_reported_and_the_plugins_others_are_kept(
    site, problems, tool_plugin, source, message
):
    hook = source.partition("(")[0].split()[-1]
    well = "register_themes():\n    return [Theme(name='dark', colors={})]\n"
    site.install("almost", f"@hookimpl\n{source}\n\n@hookimpl\ndef {well}")

    host = site.host()

    ((plugin, step, text),) = problems(host)
    assert (plugin, step) == ("almost", hook)
    assert message in text
    assert host.records["almost"].names(hook) == []
    assert host.find("register_themes", "dark") is not None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"parameters": {"type": "strange"}}, "parameters must be a JSON schema"),
        ({"parameters": {"type": "object", "properties": {"a": {"type": "strange"}}}}, "a.type is 'strange'"),
        ({"parameters": {"type": "object", "properties": 7}}, "not a valid JSON schema"),
        ({"parameters": "text"}, "parameters must be a JSON schema"),
        ({"name": "no spaces"}, "a name is 1 to 128 letters, digits, '_' and '-'"),
        ({"name": "x" * 129}, "a name is 1 to 128 letters"),
        ({"name": "dotted.name"}, "a name is 1 to 128 letters"),
        ({"name": 7}, "has no name: name is 7"),
        ({"execute": "text"}, "execute is 'text', which is not callable"),
        ({"prompt_snippet": {1, 2}}, "cannot be described as JSON"),
        ({"annotations": 5}, "annotations must be a ToolAnnotations or None, not 5"),
        ({"output_schema": 5}, "output_schema must be a dict or None, not 5"),
        ({"renderer": 5}, "renderer must be a ToolRenderer or None, not 5"),
    ],
    ids=str,
)
def test_a_tool_that_the_model_could_not_call_is_reported_and_the_next_is_kept(site, problems, fields, message):
    values = {"name": "grep", "description": "-", "parameters": {"type": "object"}, **fields}
    text = ", ".join(f"{key}={value!r}" for key, value in values.items())
    execute = "" if "execute" in fields else ", execute=run"
    site.install(
        "almost",
        f"async def run(*_): ...\n\n@hookimpl\ndef register_tools():\n"
        f"    yield Tool({text}{execute})\n"
        f"    yield Tool(name='well', description='', parameters={{'type': 'object'}}, execute=run)\n",
    )

    host = site.host()

    ((plugin, step, reported),) = problems(host)
    assert (plugin, step) == ("almost", "register_tools")
    assert message in reported
    assert host.records["almost"].names("register_tools") == ["well"]
    assert host.find("register_tools", "grep") is None
    assert host.find("register_tools", "well") is not None


@pytest.mark.parametrize("wrong", ["colors=None", "colors={}, vars=[]", "colors={}, export=5"])
def test_a_theme_whose_colours_are_no_dict_is_reported_and_the_next_is_kept(site, problems, wrong):
    themes = f"[Theme(name='broken', {wrong}), Theme(name='dark', colors={{}})]"
    site.install("shades", f"@hookimpl\ndef register_themes(): return {themes}\n")

    host = site.host()

    ((_, step, reported),) = problems(host)
    assert step == "register_themes"
    assert "theme 'broken': " in reported
    assert "must be a dict of colours by name, not " in reported
    assert host.find("register_themes", "dark") is not None


def test_objects_that_raise_when_they_are_looked_at_are_reported(bare_host, problems):
    class Hostile:
        @property
        def name(self) -> str:
            raise SystemExit(1)

        def render(self, value: Any, *, width: int, expanded: bool) -> list[str]:
            return []

        def __repr__(self) -> str:
            raise ValueError

    plugin = Plugin(register_renderers=lambda: [Hostile()], register_tools=lambda: [Hostile(), a_tool("well")])

    bare_host.add(plugin, "hostile")

    assert {(name, step) for name, step, _ in problems(bare_host)} == {
        ("hostile", "register_renderers"),
        ("hostile", "register_tools"),
    }
    assert bare_host.find("register_tools", "well") is not None


def test_registering_one_name_twice_keeps_the_later_one(bare_host, problems):
    first, second = a_tool(), a_tool()
    bare_host.add(Plugin(register_tools=lambda: [first, second]), "twice")

    assert bare_host.find("register_tools", "grep").thing is second
    assert problems(bare_host) == [("twice", "register_tools", "registers tool 'grep' twice; the later one is used")]


def test_everything_that_can_be_registered_is_found_by_its_name(bare_host, problems):
    things: dict[str, Any] = {
        "register_tools": a_tool(),
        "register_commands": Command(name="todo", handler=run),
        "register_flags": Flag(name="fast"),
        "register_modes": Mode("irc", run=run),
    }
    bare_host.add(
        Plugin(**{hook: lambda thing=thing: [thing] for hook, thing in things.items()}),
        "all",
    )

    assert problems(bare_host) == []
    assert {hook: bare_host.find(hook, thing.name).thing for hook, thing in things.items()} == things


# Who wins


def test_of_two_tools_of_one_name_the_later_plugin_wins_and_the_other_stays_reachable(site, problems, tool_plugin):
    site.install("a-tools", tool_plugin("grep", description="a"))
    site.install("b-tools", tool_plugin("grep", description="b"))

    host = site.host()

    assert problems(host) == []
    assert host.find("register_tools", "grep").plugin == "b-tools"
    assert host.find("register_tools", "a-tools:grep").thing.description == "a"
    assert host.find("register_tools", "b-tools:grep").thing.description == "b"
    assert host.find("register_tools", "c-tools:grep") is None
    assert [each.plugin for each in host.registrations("register_tools")] == ["a-tools", "b-tools"]


def test_a_preference_in_the_settings_wins_over_load_order(site, tool_plugin):
    site.install("a-tools", tool_plugin("grep", "ls"))
    site.install("b-tools", tool_plugin("grep", "ls"))

    host = site.host(plugins={"prefer": {"tool:grep": "a-tools", "tool:ls": "not-there"}})

    assert host.find("register_tools", "grep").plugin == "a-tools"
    assert host.find("register_tools", "ls").plugin == "b-tools"
    assert {name: each.plugin for name, each in host.find_all("register_tools").items()} == {
        "grep": "a-tools",
        "ls": "b-tools",
    }


@pytest.mark.slow
def test_a_warm_host_finds_what_a_cold_one_finds_whatever_is_loaded_first(site, tool_plugin):
    for name in ("a-tools", "b-tools"):
        site.install(name, tool_plugin("grep", name))
    _ = site.host().records

    host = site.host()
    host.load("b-tools")
    host.load("a-tools")

    assert host.find("register_tools", "grep").plugin == "b-tools"
    assert host.find("register_tools", "a-tools:grep").plugin == "a-tools"


def test_a_name_with_a_colon_of_its_own_is_found(bare_host):
    command = Command(name="skill:review", handler=run)
    bare_host.add(Plugin(register_commands=lambda: [command]), "skills")

    assert bare_host.find("register_commands", "skill:review").thing is command
    assert bare_host.find("register_commands", "skills:skill:review").thing is command


# Order


def test_default_plugins_come_first_and_then_all_by_name(site):
    for name in ("zebra", "ant", "yak", "bee"):
        site.install(name, LISTENS, distribution=f"pluggypi-{name}")
    site.metadata(
        "pluggypi", {}, requires=("pluggypi-zebra<2,>=1", "pluggypi_Yak[fast]", "pluggypi-bee; extra == 'all'")
    )

    records = site.host().records

    assert list(records) == ["yak", "zebra", "ant", "bee"]
    assert [name for name, each in records.items() if each.is_default] == ["yak", "zebra"]
    assert [name for name, each in site.host().records.items() if each.is_default] == ["yak", "zebra"]  # of the index


def test_without_the_distribution_the_default_plugins_are_those_of_the_engines_release(site, monkeypatch):
    def requires(_name):
        raise importlib_metadata.PackageNotFoundError

    monkeypatch.setattr(importlib_metadata, "requires", requires)
    release = importlib_metadata.version("pluggypi-core")
    site.install("zebra", LISTENS, distribution="pluggypi-zebra", version=release)
    site.install("ant", LISTENS, distribution="pluggypi-ant", version="0.9")
    site.install("bee", LISTENS, distribution="pluggypi-other", version=release)

    assert [name for name, each in site.host().records.items() if each.is_default] == ["zebra"]


def test_the_setting_puts_plugins_in_another_order(site):
    for name in ("a", "b", "c", "d"):
        site.install(name, LISTENS)

    host = site.host(plugins={"order": ["c", "not-there", "a", "c"]})
    host.load_listeners()

    assert [name for name in host.records if name in ("a", "b", "c", "d")] == ["c", "b", "a", "d"]
    asked = [each.plugin for each in host.dispatcher(pytest.fail).implementations("turn_start")]
    assert [name for name in asked if name in ("a", "b", "c", "d")] == ["c", "b", "a", "d"]


def test_plugins_that_are_added_by_hand_come_last(site, tool_plugin):
    site.install("zebra", LISTENS + tool_plugin("grep"))
    host = site.host()
    host.add(Plugin(turn_start=lambda event: None), "local")
    host.add(Plugin(register_tools=lambda: [a_tool()]), "aaa")
    host.load_listeners()

    assert [each.plugin for each in host.dispatcher(pytest.fail).implementations("turn_start")] == ["zebra", "local"]
    assert host.find("register_tools", "grep").plugin == "aaa"


def test_a_plugins_name_can_be_taken_once(site, bare_host):
    site.install("acme", LISTENS)
    host = site.host()

    with pytest.raises(ValueError, match="A plugin named 'acme' is already"):
        host.add(Plugin(), "acme")


def test_activations_come_in_load_order(site):
    for name in ("b", "a"):
        site.install(name, f"@hookimpl\ndef activate(pi): pi.append('{name}')\n")
    host = site.host()
    host.load_listeners()
    seen: list[str] = []

    for _, activate in host.activations():
        activate(seen)

    assert seen == ["a", "b"]


# Disabling


def test_a_disabled_plugin_is_not_imported_and_registers_nothing(site, problems, tool_plugin):
    one, two, three = (site.install(name, tool_plugin(name)) for name in ("one", "two", "three"))

    host = site.host("one", plugins={"disabled": ["two"]})
    _ = host.records

    assert site.imported() == [three.stem]
    assert [record.name for record in host.registering("register_tools")] == ["three"]
    assert host.find("register_tools", "one") is None
    host.load("one", "two")
    assert one.stem not in sys.modules
    assert two.stem not in sys.modules
    assert problems(host) == []


def test_disabling_a_plugin_that_is_not_installed_is_reported_with_the_nearest_name(site, problems):
    site.install("acme-guard", LISTENS)

    ((_, step, message),) = problems(site.host("acme-gard"))

    assert step == "plugins.disabled"
    assert message.startswith("Unknown plugin: acme-gard. Did you mean acme-guard")


# Its dispatchers


async def test_a_dispatcher_asks_the_loaded_plugins_with_deadlines_from_the_settings(site):
    site.install("slow", "import asyncio\n\n@hookimpl\nasync def turn_start(event): await asyncio.sleep(600)\n")
    site.install("patient", "@hookimpl\nasync def turn_start(event): pass\n\n@hookimpl\ndef agent_start(): pass\n")
    failures: list[HookFailure] = []
    hooks = {"timeout": 9, "plugins": {"slow": {"timeout": 0.1}}, "specs": {"turn_start": {"timeout": 7}}}
    host = site.host(hooks=hooks)
    host.load_listeners()
    dispatcher = host.dispatcher(failures.append)
    ctx: Any = SimpleNamespace(signal=None)

    async with asyncio.timeout(PATIENCE):
        await dispatcher.notify(TurnStartEvent(), ctx)
    dispatcher.close()

    assert [(failure.plugin, failure.kind) for failure in failures] == [("slow", "deadline")]
    deadlines = {each.plugin: each.deadline for each in dispatcher.implementations("turn_start")}
    assert deadlines == {"patient": 7, "slow": 0.1}
    assert dispatcher.implementations("agent_start")[0].deadline == 9


@pytest.mark.parametrize("timeout", [0, -1, "soon", True, None], ids=str)
def test_a_timeout_that_is_none_is_not_used(tmp_path, timeout):
    settings = {"hooks": {"timeout": timeout, "plugins": {"a": {"timeout": timeout}}, "specs": timeout}}
    host = PluginHost(Settings.in_memory(settings, tmp_path), installed=False)
    host.add(Plugin(turn_start=lambda: None), "a")

    assert host.dispatcher(pytest.fail).implementations("turn_start")[0].deadline == 600.0


async def test_each_dispatcher_has_its_own_quarantine(bare_host):
    def broken() -> None:
        raise ValueError

    bare_host.add(Plugin(turn_start=broken), "broken")
    one, two = bare_host.dispatcher(lambda failure: None), bare_host.dispatcher(lambda failure: None)
    ctx: Any = SimpleNamespace(signal=None)

    for _ in range(3):
        await one.notify(TurnStartEvent(), ctx)
    one.close()

    assert not one.listens("turn_start")
    assert two.listens("turn_start")


def test_what_several_plugins_have_in_common_is_said_once():
    problems = [
        Problem("guard", "import", "no Node.js"),
        Problem("(settings)", "plugins.disabled", "unknown"),
        Problem("good", "import", "no Node.js"),
        Problem("good", "import", "no Node.js"),
        Problem("good", "name", "taken"),
    ]

    assert sentences_of(problems) == [
        "Plugins 'guard', 'good' (import): no Node.js",
        "plugins.disabled: unknown",
        "Plugin 'good' (name): taken",
    ]
