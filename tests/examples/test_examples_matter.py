"""Every example is a plugin as a stranger would write it, and its tests are about it: without it they fail."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pi_testing import for_each

pytestmark = pytest.mark.slow  # each starts programs that take seconds

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
NAMES = sorted(file.parent.name for file in EXAMPLES.glob("*/pyproject.toml"))

LIBRARIES = {
    "attrs": "attrs",
    "click": "click",
    "pluggypi-core": "pi_core",
    "pluggypi-hookspecs": "pi_hookspecs",
    "pluggypi-provider-kit": "pi_provider_kit",
    "pluggypi-tools": "pi_tools",
    "pyyaml": "yaml",
}
"""What an example may depend on, and how it is imported: the contract, what is exported for plugins, two others."""

every_example = for_each("name", NAMES)


def module_of(name):
    return EXAMPLES / name / "src" / f"pi_{name.replace('-', '_')}"


def sources_of(name):
    """The files of an example: those of its package, or the one that it is."""
    return list(module_of(name).rglob("*.py")) or [module_of(name).with_suffix(".py")]


@pytest.fixture(scope="module")
def outcomes():
    """What became of each example's tests without the examples: its name and the outcome, for every test."""
    command = [sys.executable, "-m", "pytest", "examples", "--without-examples", "-n0", "--tb=no", "-rA", "-q"]
    ran = subprocess.run([*command, "-pno:cacheprovider"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == pytest.ExitCode.TESTS_FAILED, ran.stdout + ran.stderr
    return set(re.findall(r"^(PASSED|FAILED|ERROR) examples/([^/]+)/", ran.stdout, re.MULTILINE))


@every_example
def test_without_the_example_one_of_its_tests_fails(name, outcomes):
    assert ("FAILED", name) in outcomes


@every_example
def test_example_is_installed_like_a_strangers_plugin(name):
    project = tomllib.loads((EXAMPLES / name / "pyproject.toml").read_text())["project"]

    assert project["name"] == f"pluggypi-{name}"
    assert project["entry-points"]["pi"] == {name: module_of(name).name}
    assert project["dependencies"][0] == "pluggypi-hookspecs>=1.0,<2"


@every_example
def test_example_imports_what_it_depends_on_and_python_alone(name):
    project = tomllib.loads((EXAMPLES / name / "pyproject.toml").read_text())["project"]
    imported = set()
    for source in sources_of(name):
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Import):
                imported |= {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module)

    declared = {LIBRARIES[re.split("[>=<]", each)[0]] for each in project["dependencies"]}
    foreign = {each.partition(".")[0] for each in imported} - sys.stdlib_module_names - {module_of(name).name}
    assert foreign == declared
    assert not [each for each in imported if each.startswith("pi_hookspecs.")]


@every_example
def test_every_module_of_an_example_says_what_it_does(name):
    for source in sources_of(name):
        assert ast.get_docstring(ast.parse(source.read_text())), source.name


@every_example
def test_readme_says_how_to_try_it(name):
    readme = (EXAMPLES / name / "README.md").read_text()

    assert readme.startswith(f"# {name}\n")
    assert f"./examples/{name}" in readme


@every_example
def test_the_list_of_examples_says_what_it_does(name):
    assert f"\n| [{name}]({name}) | " in (EXAMPLES / "README.md").read_text()


def test_readme_of_the_project_shows_its_first_plugin_as_it_is():
    source = (module_of("keep-trees") / "__init__.py").read_text()

    assert len(source.splitlines()) <= 15
    assert f"```python\n{source}```" in (ROOT / "README.md").read_text()
