"""A plugin that ends the process which loads it is named at the next start, and left out."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from importlib.metadata import entry_points

import pytest

from pi_core.host.breadcrumbs import Breadcrumbs
from pi_core.host.trial import crash_of

pytestmark = pytest.mark.slow

LISTENS = "@hookimpl\ndef turn_start(event): pass\n"
USE = """
host.load_listeners()
host.find_all("register_tools")
for problem in host.problems:
    print(problem)
"""
WELL = LISTENS + "@hookimpl\ndef tool_call(event): pass\n"


@pytest.fixture
def start(site):
    """Start a host in a process of its own, and let it do what a session does; return the process, which has ended."""
    workspace = sorted(each.name for each in entry_points(group="pi"))
    script = f"""
import sys
sys.path.insert(0, {str(site.folder)!r})
sys.dont_write_bytecode = True
from pi_core.host import PluginHost
from pi_core.settings import Settings
host = PluginHost(Settings.in_memory({{}}, {str(site.agent_dir)!r}), disabled={workspace!r} + sys.argv[1:])
"""

    def run(then=USE, disabled=(), **env):
        command = [sys.executable, "-c", script + then, *disabled]
        return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **env})

    return run


@pytest.fixture
def crumbs(site):
    """Return the files of plugins that are being loaded, or were when a process died."""
    return lambda: sorted((site.agent_dir / "cache").glob("importing-*"))


def named(done):
    """Return what a start that did not die says of plugin ``bad``."""
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith("Plugin 'bad' (import): not loaded: ")]


@pytest.mark.parametrize(
    ("where", "end", "message"),
    [
        ("import", "os._exit(0)", "exit code 0"),
        ("hook", "os._exit(5)", "exit code 5"),
        ("import", "os.kill(os.getpid(), 9)", "SIGKILL"),
    ],
)
def test_the_start_after_names_the_plugin_and_loads_the_others(site, start, crumbs, where, end, message):
    body = f"import os\n{end}\n"
    if where == "hook":
        body = f"import os\n@hookimpl\ndef register_tools():\n    {end}\n    return []\n"
    site.install("bad", body)
    site.install("good", LISTENS)

    first, second, third = start(), start(), start()

    assert first.stdout == ""
    exits = "Error: Plugin 'bad' ended pi while it was loaded: it called os._exit("
    assert (exits in first.stderr and ", line " in first.stderr) is ("_exit" in end)
    assert named(second) == named(third)
    assert f"loading it ends the process ({message})" in named(second)[0]
    assert "pi plugins retry bad tries it again" in named(second)[0]
    assert "good" not in second.stdout
    assert crumbs() == []


def test_a_warm_index_does_not_keep_it_loading(site, start):
    file = site.install("bad", WELL)
    assert named(start()) == []
    file.write_text("import os\nos._exit(5)\n")
    assert start().returncode == 5

    third = start()

    assert len(named(third)) == 1
    assert "Plugin 'bad' (tool_call): refuses, because the plugin cannot run" in third.stdout


def test_one_that_was_killed_from_outside_is_loaded_again(site, start, crumbs):
    site.install("bad", f"import os\nif 'KILLED' in os.environ:\n    os._exit(1)\n{LISTENS}")
    assert start(KILLED="1").returncode == 1
    assert len(crumbs()) == 1

    assert named(start()) == []
    assert crumbs() == []


def test_one_that_ends_pi_but_no_trial_is_left_out_the_second_time(site, start):
    site.install("bad", f"import os, sys\nif len(sys.argv) < 2:\n    os._exit(5)\n{LISTENS}")

    codes = [start().returncode, start().returncode]
    third = start()

    assert codes == [5, 5]
    assert "loading it ends the process (twice in a row)" in named(third)[0]


def test_a_change_is_tried(site, start):
    file = site.install("bad", "import os\nos._exit(5)\n")
    start()
    assert len(named(start())) == 1

    file.write_text(f"from pi_hookspecs import hookimpl\n{LISTENS}")
    os.utime(site.folder / "bad-1.0.dist-info", ns=(1, 1))

    assert named(start()) == []


def test_it_is_tried_again_when_that_is_asked_for(site, start):
    file = site.install("bad", "import os\nos._exit(5)\n")
    start()
    start()
    retry = "print(host.look_again('bad').loads)"
    still = start(retry).stdout
    file.write_text(f"from pi_hookspecs import hookimpl\n{LISTENS}")

    assert still == "False\n"
    assert start(retry).stdout == "True\n"
    assert named(start()) == []


def test_disabled_it_is_not_tried(site, start):
    site.install("bad", "import os\nos._exit(5)\n")
    start()

    done = start(disabled=["bad"])

    assert (done.returncode, done.stdout) == (0, "")


# The files


def test_a_plugin_that_is_being_loaded_elsewhere_is_no_finding(tmp_path):
    mine, other = Breadcrumbs(tmp_path), Breadcrumbs(tmp_path)

    with mine.at("slow"):
        during = other.left_behind()
        assert len(list(tmp_path.iterdir())) == 1

    assert (during, other.left_behind()) == ({}, {})
    assert list(tmp_path.iterdir()) == []


def test_threads_have_files_of_their_own(tmp_path):
    crumbs = Breadcrumbs(tmp_path)
    seen = []

    def load():
        with crumbs.at("other"):
            seen.append(len(list(tmp_path.iterdir())))

    with crumbs.at("one"):
        thread = threading.Thread(target=load)
        thread.start()
        thread.join()

    assert seen == [2]


def test_nothing_is_written_for_pi_s_own_plugins(tmp_path):
    with Breadcrumbs(tmp_path, lambda name: name == "tools").at("tools"):
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "\0\xff", "no number", "1", "1 "])
def test_an_empty_file_is_removed(tmp_path, content):
    (tmp_path / "importing-1-1").write_text(content)

    assert Breadcrumbs(tmp_path).left_behind() == {}
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_plugins_are_loaded_all_the_same(tmp_path):
    (tmp_path / "cache").write_text("in the way")
    crumbs = Breadcrumbs(tmp_path / "cache")

    with crumbs.at("one"):
        pass

    assert crumbs.left_behind() == {}


# The trial


@pytest.mark.parametrize("body", ["", "raise RuntimeError", "raise SystemExit(3)", "print('x' * 100000)"])
def test_what_only_fails_does_not_die(site, body):
    file = site.install("one", f"{body}\n")

    assert crash_of(file.stem, sys.path, 60) is None


def test_what_hangs_is_ended(site):
    file = site.install("one", "import signal\nsignal.alarm(60)\nwhile True: pass\n")

    assert crash_of(file.stem, sys.path, 1.5) == "no end within 1.5 s"


def test_a_crash_is_named_by_its_signal(site):
    file = site.install("one", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")

    assert crash_of(file.stem, sys.path, 60) == signal.SIGSEGV.name


# Local extensions


@pytest.fixture
def start_with_extensions(start):
    """Start with the user's local extensions; return the process, which has ended."""
    then = """
from pathlib import Path
from pi_core.host.extensions import LocalExtensions
LocalExtensions(host, cwd=Path("/")).load()
"""
    return lambda **env: start(then + USE, **env)


def test_a_local_extension_is_left_out_until_it_changes(site, start_with_extensions):
    file = site.agent_dir / "extensions" / "bad.py"
    file.parent.mkdir(parents=True)
    file.write_text("import os\nos._exit(5)\n")
    file.with_name("good.py").write_text("def activate(pi): ...\n")

    first, second, third = start_with_extensions(), start_with_extensions(), start_with_extensions()
    file.write_text("def activate(pi): ...\n")
    mended = start_with_extensions()

    assert (first.returncode, first.stdout) == (5, "")
    assert named(second) == named(third)
    assert "loading it ends the process (exit code 5). It is left out until it changes" in named(second)[0]
    assert (mended.returncode, mended.stdout) == (0, "")


def test_a_local_extension_that_was_killed_from_outside_is_loaded_again(site, start_with_extensions):
    file = site.agent_dir / "extensions" / "bad.py"
    file.parent.mkdir(parents=True)
    file.write_text("import os\nif 'KILLED' in os.environ:\n    os._exit(1)\ndef activate(pi): ...\n")

    assert start_with_extensions(KILLED="1").returncode == 1
    assert (start_with_extensions().returncode, start_with_extensions().stdout) == (0, "")
