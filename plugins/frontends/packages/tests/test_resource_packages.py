"""Packages of skills, prompts, themes and extensions: folders, repositories, npm tarballs and wheels."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tarfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from pi_core.host.extensions.places import find_extensions
from pi_core.host.package_resources import package_resources
from pi_core.settings import Settings
from pi_hookspecs import UserError
from pi_packages.manifest import read_manifest
from pi_packages.trees import MAX_FILES

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("trusting")]

SKILL = "---\nname: tide-tables\ndescription: Read tide tables\n---\nLook at the moon.\n"
EXTENSION = "def activate(pi):\n    pi.register_command('ebb', handler=lambda *_: None, description='x')\n"


def write(folder, **files):
    """Write texts by path, ``/`` written as ``__``."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def skills(tmp_path):
    """A folder with a skill, a prompt and a TypeScript extension."""
    return write(
        tmp_path / "moon",
        skills__tides__SKILL_dot_md=SKILL,
        prompts__ebb_dot_md="Describe the ebb.",
        extensions__wave_dot_ts="export default 1",
    )


def repository(folder):
    """Make a folder a git repository with one commit; return the commit."""
    identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


def tarball(path, files):
    """Write an npm tarball."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def found(bench, kind="skills"):
    """Return the files that pi reads of packages, by their names."""
    settings = Settings.load(bench.cwd, bench.agent_dir)
    places = list(package_resources(settings, kind, str(bench.cwd), str(bench.home)))
    files = [(file, each) for each in places for file in Path(each.path).rglob("*.md")]
    return {
        file.parent.name if file.name == "SKILL.md" else file.stem: each.source
        for file, each in files
        if each.picks is None or each.picks.includes(str(file))
    }


def test_a_folder_of_skills_is_used_where_it_lies(bench, skills):
    output = bench.ok("install", skills)

    assert output == f"install {skills} local  ({skills})\n"
    rows = {each["name"]: each for each in json.loads(bench.pi("resources", "--json"))}
    assert rows["tide-tables"]["source"] == rows["ebb"]["source"] == f"package:{skills}"


def test_what_runs_in_node_is_named_before_the_question(bench, skills):
    said = bench.ok("install", skills, "--dry-run")

    assert "1 TypeScript or JavaScript extension run in Node.js, with your privileges" in said


def test_a_manifest_may_leave_out_some_of_what_it_names(tmp_path):
    def used(*named):
        manifest = json.dumps({"pi": {"extensions": named}})
        folder = write(tmp_path / "some", ext__yes_dot_ts="", ext__no_dot_ts="", package_dot_json=manifest)
        return [Path(each).name for each in read_manifest(folder, "it")["resources"]["extensions"]]

    assert used("ext/*.ts", "!ext/no.ts", "gone.ts") == ["yes.ts"]
    for named, why in (
        (["ext", "!ext/no.ts"], "leaves out a part of 'ext', which is used whole; name its contents, as 'ext/\\*'"),
        (["gone.ts", "!x"], "its manifest names gone.ts, !x, where there is nothing that pi can use"),
        (["ext/*.ts", "!../no.ts"], "is not a path below the package's folder"),
    ):
        with pytest.raises(UserError, match=why):
            used(*named)


def test_a_folder_of_typescript_is_a_package(bench, tmp_path):
    files = {"extensions__wave_dot_ts": "export default 1", "extensions__types_dot_d_dot_ts": "", "README_dot_md": "x"}
    folder = write(tmp_path / "only", **files, extensions__tide__index_dot_ts="export default 2")

    bench.ok("install", folder)

    assert bench.generation()["packages"][0]["resources"] == {"extensions": [str(folder / "extensions")]}
    settings = Settings.load(bench.cwd, bench.agent_dir)
    sources, problems = find_extensions(bench.cwd, settings, [], discover=True)
    assert {each.name: each.path.name for each in sources} == {"wave": "wave.ts", "tide": "index.ts"}
    assert problems == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm")
def test_what_extensions_of_npm_import_is_installed_without_scripts_and_locked(bench, tmp_path):
    scripts = {"postinstall": f"touch '{tmp_path}/ran'"}
    tiny = {"name": "tiny", "version": "1.2.3", "main": "tiny.js", "scripts": scripts}
    tarball(tmp_path / "tiny.tgz", {"package.json": json.dumps(tiny), "tiny.js": "module.exports = 'tiny'"})
    needs = {"tiny": f"file:{tmp_path}/tiny.tgz", "@earendil-works/pi-coding-agent": "*", "typebox": "*"}
    wave = {"name": "wave", "version": "2.0.0", "pi": {"extensions": ["src/index.ts"]}, "dependencies": needs}
    source = 'import tiny from "tiny"; export default () => tiny;'
    file = tarball(tmp_path / "wave.tgz", {"package.json": json.dumps(wave), "src/index.ts": source})

    bench.ok("install", f"npm:{file}")

    package = bench.generation()["packages"][0]
    (index,) = package["resources"]["extensions"]
    modules = Path(index).parent.parent / "node_modules"
    assert [each.name for each in modules.iterdir() if each.is_dir()] == ["tiny"]
    assert package["modules"]["node_modules/tiny"].startswith("1.2.3 sha512-")
    assert not (tmp_path / "ran").exists()
    settings = Settings.load(bench.cwd, bench.agent_dir)
    assert [each.name for each in find_extensions(bench.cwd, settings, [], discover=True)[0]] == ["wave"]
    bench.ok("sync")


def test_filters_of_an_entry_choose_what_counts(bench, skills):
    write(skills, skills__sand__SKILL_dot_md=SKILL.replace("tide-tables", "sand"))
    bench.ok("install", skills)

    bench.set("packages", [{"source": str(skills), "skills": ["s*"], "prompts": []}])

    assert "sand" in found(bench)
    assert "tides" not in found(bench)
    assert "ebb" not in found(bench, "prompts")


def test_one_python_file_is_an_extension(bench, tmp_path):
    file = tmp_path / "ebb.py"
    file.write_text("from pi_hookspecs import Subcommand\n\ndef activate(pi): pass\n")
    bench.ok("install", file)

    rows = json.loads(bench.pi("plugins", "--json"))

    assert "ebb" in {each["name"] for each in rows}


def test_a_wheel_brings_skills_in_its_data(bench):
    bench.plugin("tides", **{"pluggypi_tides-1.0.data/data/share/pi/skills/tides/SKILL.md": SKILL})

    bench.ok("install", "tides")

    assert found(bench)["tides"] == "pypi:pluggypi-tides"


def test_a_repository_is_taken_at_one_commit_until_it_is_updated(bench, skills):
    first = repository(skills)
    bench.ok("install", f"git:{skills}")
    write(skills, skills__sand__SKILL_dot_md=SKILL.replace("tide-tables", "sand"))
    second = repository(skills)
    bench.ok("sync")
    before = bench.generation()["packages"][0]["revision"]

    bench.ok("update", "--extensions")

    assert before == first
    assert bench.generation()["packages"][0]["revision"] == second
    assert {"sand", "tides"} <= {*found(bench)}


def test_a_list_that_the_original_wrote_is_installed_and_used(bench, skills, monkeypatch):
    repository(skills)
    monkeypatch.chdir(skills.parent)
    bench.set("packages", [f"git:{skills}", {"source": os.path.relpath(skills, bench.agent_dir), "prompts": []}])

    bench.ok("sync")

    assert found(bench)["tides"] in (f"git:{skills}", os.path.relpath(skills, bench.agent_dir))
    assert found(bench, "prompts") == {"ebb": f"git:{skills}"}


def test_a_repository_with_a_python_project_is_installed_from_its_commit(bench, reef):
    commit = repository(reef)

    bench.ok("install", f"git:{reef}@{commit}")
    lock = (bench.agent_dir / "pylock.pi.toml").read_text()

    assert bench.installed() == {"pluggypi-reef": "1.0"}
    assert f'commit-id = "{commit}"' in lock
    assert str(bench.agent_dir) not in lock


def test_a_project_in_a_folder_is_installed_editable(bench, reef):
    bench.ok("install", reef)

    source = (reef / "pi_reef.py").read_text()
    (reef / "pi_reef.py").write_text(source.replace("turn_end", "turn_start"))
    rows = {each["name"]: each for each in json.loads(bench.pi("plugins", "--json"))}

    assert [each["name"] for each in rows["reef"]["hooks"]] == ["turn_start"]


def test_hooks_and_submodules_of_a_repository_are_not_used(bench, skills, tmp_path):
    other = write(tmp_path / "other", a_dot_md="x")
    repository(other)
    subprocess.run(["git", "init", "-q"], cwd=skills, check=True)
    allowed = ["git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "skills/sub"]
    subprocess.run(allowed, cwd=skills, check=True)
    hooks = write(skills / ".git" / "hooks", **{"post-checkout": f"#!/bin/sh\ntouch '{tmp_path}/ran'\n"})
    hook = hooks / "post-checkout"
    hook.chmod(0o755)
    repository(skills)

    bench.ok("install", f"git+file://{skills}")

    assert not (tmp_path / "ran").exists()
    assert not list(bench.agent_dir.glob("packages/res/*/*/skills/sub/*"))


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../outside"])
def test_a_link_that_leads_out_of_a_repository_is_refused(bench, skills, target):
    (skills / "skills" / "out").symlink_to(target)
    repository(skills)

    assert "a link that leads out of the package" in bench.fails("install", f"git:{skills}")


@pytest.mark.parametrize("path", ["../other", "/etc", "~/x"])
def test_a_manifest_that_leads_out_of_its_package_is_refused(bench, skills, path):
    write(skills, package_dot_json=json.dumps({"pi": {"skills": [path]}}))

    assert "is not a path below the package's folder" in bench.fails("install", skills)


def test_of_an_npm_tarball_the_files_are_used_and_no_script_is_run(bench, tmp_path):
    scripts = {"name": "moon", "version": "2.1.0", "scripts": {"install": f"touch '{tmp_path}/ran'"}}
    manifest = json.dumps({**scripts, "pi": {"skills": ["./skills"]}, "dependencies": {"left-pad": "*"}})
    file = tarball(tmp_path / "moon-2.1.0.tgz", {"package.json": manifest, "skills/tides/SKILL.md": SKILL})

    bench.ok("install", f"npm:{file}")

    package = bench.generation()["packages"][0]
    assert package["version"] == "2.1.0"
    assert package["integrity"].startswith("sha512-")
    assert found(bench)["tides"] == f"npm:{file}"
    assert not (tmp_path / "ran").exists()


def test_npm_is_run_with_no_scripts_and_away_from_the_project(bench, tmp_path):
    file = tarball(tmp_path / "moon.tgz", {"package.json": '{"version": "1.0.0"}', "skills/tides/SKILL.md": SKILL})
    log = tmp_path / "log"
    npm = tmp_path / "npm"
    copies = f'printf "%s\\n" "$PWD" "$@" > "{log}"\nshift 5\ncp "{file}" "$1"\n'
    npm.write_text(f"#!/bin/sh\n{copies}")
    npm.chmod(0o755)
    bench.set("npmCommand", [str(npm)])

    bench.ok("install", "npm:@sea/moon")

    folder, *arguments = log.read_text().splitlines()
    assert arguments[:4] == ["pack", "@sea/moon@latest", "--ignore-scripts", "--json"]
    assert folder.startswith(str(bench.agent_dir))
    assert "--fetch-retry-maxtimeout=1000" in arguments  # its own waits add up to more than a minute


@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm")
def test_a_file_without_the_hash_that_the_registry_states_is_refused(bench, tmp_path, monkeypatch):
    file = tarball(tmp_path / "moon.tgz", {"package.json": '{"version": "1.0.0"}', "skills/tides/SKILL.md": SKILL})
    asked = []

    class Registry(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            dist = {"tarball": f"{address}/moon.tgz", "integrity": f"sha512-{'A' * 86}=="}
            known = {"1.0.0": {"name": "moon", "version": "1.0.0", "dist": dist}}
            document = {"name": "moon", "dist-tags": {"latest": "1.0.0"}, "versions": known}
            body = file.read_bytes() if self.path == "/moon.tgz" else json.dumps(document).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        address = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("npm_config_registry", address)
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
        error = bench.fails("install", "npm:moon")
        server.shutdown()

    assert "not the one whose hash it states" in error
    assert "/moon.tgz" in asked


def test_without_npm_the_error_says_what_to_install(bench, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")

    assert "needs npm, which is not installed. Install Node.js" in bench.fails("install", "npm:moon")


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"../evil.md": "x"}, "cannot be unpacked"),
        ({f"f{number}": "" for number in range(MAX_FILES + 1)}, f"more than {MAX_FILES} files"),
    ],
)
def test_a_tarball_that_leaves_its_folder_or_bursts_is_refused(bench, tmp_path, files, reason):
    file = tarball(
        tmp_path / "moon.tgz", {f"../{name}" if ".." in name else name: text for name, text in files.items()}
    )

    assert reason in bench.fails("install", f"npm:{file}")


def test_what_is_no_tarball_is_refused(bench, tmp_path):
    (tmp_path / "moon.tgz").write_bytes(os.urandom(100))

    assert "cannot be unpacked" in bench.fails("install", f"npm:{tmp_path}/moon.tgz")
