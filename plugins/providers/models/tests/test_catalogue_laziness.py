"""A run pays for the index and for the one provider that it uses."""

from __future__ import annotations

import subprocess
import sys

COUNT = """
import sys
import pi_hookspecs.model_files, pi_models
opened = []
sys.addaudithook(lambda event, arguments: opened.append(arguments[0]) if event == "open" else None)
def names():
    found = [str(path).replace("\\\\", "/").rpartition("/")[2] for path in opened if str(path).endswith(".json")]
    opened.clear()
    return found
"""


def run(program):
    done = subprocess.run([sys.executable, "-c", COUNT + program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_registering_reads_the_index_alone():
    assert run("rows = pi_models.register_models(); print(len(rows) > 35, names())") == ["True ['providers.json']"]


def test_a_provider_reads_its_own_file_and_once():
    program = """
rows = {row.id: row for row in pi_models.register_models()}
names()
for _ in range(3):
    rows["anthropic"].model("claude-opus-4-6"), rows["anthropic"].models
print(names())
rows["openai"].custom_model("gpt-7"), rows["ollama"].models
print(names())
"""

    assert run(program) == ["['anthropic.json']", "[]"]


def test_importing_the_plugin_loads_no_values():
    program = (
        "import sys, pi_models\n"
        "print([name for name in ('models', 'model_files', 'errors') if f'pi_hookspecs.{name}' in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["[]"]


def test_registering_imports_no_machinery_for_package_data():
    program = (
        "import sys, pi_models; pi_models.register_models()\n"
        "print([name for name in ('importlib.resources', 'tempfile', 'orjson', 'cattrs') if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["[]"]
