"""Options for the system prompt, long and short, reach the session."""

from __future__ import annotations

import pytest

from pi_cli.arguments import parse, peek

pytestmark = pytest.mark.slow

SHOWS_PROMPT = """
from pi_hookspecs import hookimpl

@hookimpl
async def turn_end(event, ctx):
    with open("prompt.txt", "w") as file:
        file.write(ctx.system_prompt)
"""


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [
        (["--system-prompt", "x"], "system_prompt", "x"),
        (["--append-system-prompt", "a", "--append-system-prompt", "b"], "append_system_prompt", ("a", "b")),
        (["-nc"], "no_context_files", True),
        (["--no-context-files"], "no_context_files", True),
        (["-ns"], "no_skills", True),
        (["--no-skills"], "no_skills", True),
        (["-np"], "no_prompt_templates", True),
        (["--no-prompt-templates"], "no_prompt_templates", True),
        (["--no-themes"], "no_themes", True),
        (["--skill", "a", "--skill", "b"], "skills", ("a", "b")),
        (["--prompt-template", "a"], "prompt_templates", ("a",)),
        (["--theme", "a"], "themes", ("a",)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_each_option_is_read(arguments, field, value):
    for options in (parse([*arguments, "hi"]), peek([*arguments, "hi"])):
        assert getattr(options.prompt_options, field) == value
        assert options.messages == ("hi",)


def test_prompt_options_reach_the_models_system_prompt(fake):
    fake.install("shows", SHOWS_PROMPT)
    (fake.cwd / "AGENTS.md").write_text("Use tabs.")

    done = fake.run("-p", "--model", "fake/echo", "-nc", "--append-system-prompt", "Be kind.", "hi")

    assert (done.returncode, done.stdout) == (0, "hi\n")
    prompt = (fake.cwd / "prompt.txt").read_text()
    assert "<addendum>\nBe kind.\n</addendum>" in prompt
    assert "tabs" not in prompt


def test_without_options_the_files_of_the_folder_count(fake):
    fake.install("shows", SHOWS_PROMPT)
    (fake.cwd / "AGENTS.md").write_text("Use tabs.")

    fake.run("-p", "--model", "fake/echo", "hi")

    assert "Use tabs." in (fake.cwd / "prompt.txt").read_text()


@pytest.mark.parametrize("approved", [False, True])
def test_a_projects_settings_need_trust(fake, approved):
    fake.install("shows", SHOWS_PROMPT)
    project = fake.cwd / ".pi"
    (project / "skills" / "knit").mkdir(parents=True)
    (project / "skills" / "knit" / "SKILL.md").write_text("---\nname: knit\ndescription: Knits\n---\nKnit.\n")
    (project / "SYSTEM.md").write_text("You are a pirate.")
    (project / "APPEND_SYSTEM.md").write_text("Obey me.")
    (fake.cwd / "MEMORY.md").write_text("- Likes tea")
    (project / "settings.json").write_text('{"systemPrompt": {"date": true}}')
    (fake.cwd / "AGENTS.md").write_text("Use tabs.")

    done = fake.run("-p", "--model", "fake/echo", *(["--approve"] if approved else []), "hi")

    prompt = (fake.cwd / "prompt.txt").read_text()
    messages = ("You are a pirate.", "Obey me.", "knit", "<date>", "Likes tea")
    assert [each in prompt for each in messages] == [approved] * 5
    assert "Use tabs." in prompt  # instructions need no trust
    skipped = all(
        name in done.stderr for name in ("settings.json", "skills", "SYSTEM.md", "APPEND_SYSTEM.md", "MEMORY.md")
    )
    assert skipped is not approved


def test_a_prompt_file_that_is_too_large_is_refused(fake):
    with (fake.cwd / "large").open("wb") as file:
        file.truncate(2 * 1_048_576)

    done = fake.run("-p", "--model", "fake/echo", "--system-prompt", "large", "hi")

    assert done.returncode == 1
    assert "Error: large: 2 MB is too much for a system prompt; the limit is 1 MB" in done.stderr
