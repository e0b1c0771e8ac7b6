"""The members of the workspace agree with each other, and the root knows all of them."""

from __future__ import annotations

import importlib
import re
import tomllib
from pathlib import Path
from typing import Any

from pi_core.host.discovery import default_plugins
from pi_testing import for_each

ROOT = Path(__file__).resolve().parents[2]


def load(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^A-Za-z0-9._-]", requirement)[0] for requirement in requirements}


WORKSPACE = load(ROOT)
GLOBS = WORKSPACE["tool"]["uv"]["workspace"]["members"]
FOLDERS = sorted(file.parent for glob in GLOBS for file in ROOT.glob(f"{glob}/pyproject.toml"))
MEMBERS = {folder: load(folder) for folder in FOLDERS}

each_member = for_each("folder", FOLDERS)


def package_of(folder: Path) -> str:
    """The package of a member; others that it may have are short names of it, for notebooks."""
    path, *_ = MEMBERS[folder]["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    return Path(path).relative_to("src").name


@each_member
def test_member_has_types_readme_and_package(folder: Path) -> None:
    project = MEMBERS[folder]["project"]

    assert (folder / "src" / package_of(folder) / "py.typed").is_file()
    assert (folder / project["readme"]).read_text(encoding="utf-8").startswith(f"# {project['name']}\n")


@each_member
def test_member_has_the_version_of_the_root(folder: Path) -> None:
    project = MEMBERS[folder]["project"]

    for field in ("version", "requires-python", "license"):
        assert project[field] == WORKSPACE["project"][field], field


@each_member
def test_member_needs_the_contract_of_its_own_version(folder: Path) -> None:
    """A wheel of this version with the hookspecs of the last one would miss names, and installers would allow it."""
    major, minor, _ = WORKSPACE["project"]["version"].split(".")
    project = MEMBERS[folder]["project"]
    needs = [
        *project["dependencies"],
        *(each for extra in project.get("optional-dependencies", {}).values() for each in extra),
    ]
    bounds = {each.partition(">=")[2] for each in needs if each.startswith("pluggypi-")}

    assert bounds <= {f"{major}.{minor},<{int(major) + 1}"}


@each_member
def test_plugin_bears_one_name(folder: Path) -> None:
    project = MEMBERS[folder]["project"]
    group = project.get("entry-points", {}).get("pi", {})

    name = "tools" if folder.name == "files" else folder.name  # as its settings and its qualified tool names call it
    assert group in ({}, {name: package_of(folder)})
    if folder.parent.parent.name == "plugins":
        assert project["name"] == f"pluggypi-{name}"
        assert package_of(folder) == f"pi_{name.replace('-', '_')}"


@each_member
def test_siblings_come_from_the_workspace(folder: Path) -> None:
    siblings = {name for name in names(MEMBERS[folder]["project"]["dependencies"]) if name.startswith("pluggypi-")}

    assert set(MEMBERS[folder]["tool"].get("uv", {}).get("sources", {})) == siblings


def test_the_dev_group_brings_the_members_that_pi_does_without() -> None:
    wanted = names(WORKSPACE["project"]["dependencies"]) | names(WORKSPACE["dependency-groups"]["dev"])

    assert {member["project"]["name"] for member in MEMBERS.values()} <= wanted


def test_every_direct_dependency_is_pinned() -> None:
    pins = WORKSPACE["tool"]["uv"]["constraint-dependencies"]
    direct = {name for group in WORKSPACE["dependency-groups"].values() for name in names(group)}
    for member in MEMBERS.values():
        direct |= names(member["project"]["dependencies"])
        for extra in member["project"].get("optional-dependencies", {}).values():
            direct |= names(extra)

    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", pin) for pin in pins)
    assert names(pins) == {name for name in direct if not name.startswith("pluggypi")}


def test_import_contracts_name_every_member() -> None:
    linter = WORKSPACE["tool"]["importlinter"]
    contracts = {contract["id"]: contract for contract in linter["contracts"]}
    layers = {package for layer in contracts["layers"]["layers"] for package in re.split(r"\s*[:|]\s*", layer)}
    packages = {package_of(folder) for folder in FOLDERS}
    plugins = {package_of(folder) for folder in FOLDERS if "pi" in MEMBERS[folder]["project"].get("entry-points", {})}

    assert set(linter["root_packages"]) == packages
    assert layers == packages
    assert set(contracts["plugins"]["modules"]) == plugins


def test_the_default_plugins_are_those_of_the_distributions_that_pluggypi_requires() -> None:
    wanted = names(WORKSPACE["project"]["dependencies"])
    projects = [member["project"] for member in MEMBERS.values() if member["project"]["name"] in wanted]

    assert {name for project in projects for name in project.get("entry-points", {}).get("pi", {})} == default_plugins()


def test_what_people_install_brings_the_command() -> None:
    """Installers of tools look for scripts in the distribution that they were asked for, and in no other."""
    scripts = WORKSPACE["project"]["scripts"]

    assert scripts == {"pi": "pi_cli:main", "pluggypi": "pi_cli:main"}
    assert load(ROOT / "plugins/frontends/cli")["project"]["scripts"] == {"pi": "pi_cli:main"}


def test_an_upgrade_of_the_whole_upgrades_its_parts() -> None:
    project = WORKSPACE["project"]
    extras = [each for extra in project["optional-dependencies"].values() for each in extra]
    bounds = [each for each in [*project["dependencies"], *extras] if each.startswith("pluggypi-")]
    major = int(project["version"].partition(".")[0])

    assert [each for each in bounds if not each.endswith(f">={project['version']},<{major + 1}")] == []


def test_what_only_some_people_need_is_an_extra() -> None:
    bedrock = load(ROOT / "plugins/providers/provider-bedrock")["project"]

    assert names(bedrock["optional-dependencies"]["aws"]) == {"botocore"}
    assert not [folder.name for folder in FOLDERS if "botocore" in names(MEMBERS[folder]["project"]["dependencies"])]
    (extra,) = WORKSPACE["project"]["optional-dependencies"]["bedrock"]
    assert extra.startswith("pluggypi-provider-bedrock[aws]>=")


@each_member
def test_what_is_exported_lazily_has_the_name_of_no_module(folder: Path) -> None:
    """Importing a submodule sets it on its package, where it would take the place of the function or class."""
    for file in (folder / "src").rglob("__init__.py"):
        package = importlib.import_module(".".join(file.parent.relative_to(folder / "src").parts))
        exported = {*" ".join(getattr(package, "_HOMES", {}).values()).split()}
        if exported <= {*getattr(package, "__all__", ())}:  # else the table is from names to modules
            assert exported & {each.stem for each in file.parent.iterdir()} == set(), package.__name__
