"""``/llama`` and ``pi models``, and what pi lists of local models."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from pi_core import PluginHost, Settings
from pi_hookspecs import StreamOptions, UserError
from pi_provider_llamacpp.command import complete, run_command
from pi_provider_llamacpp.hub import pull, remove
from pi_provider_llamacpp.options import read_options
from pi_provider_llamacpp.provider import LlamaCpp, provider_row
from pi_provider_llamacpp.subcommand import run_subcommand
from pi_testing import for_each


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "settings.json").write_text(json.dumps({"llamacpp": {"paths": [str(tmp_path / "m")]}}))
    return Settings.load(tmp_path, agent_dir=tmp_path / "agent", trust=True)


@pytest.fixture
def ctx(settings):
    told = []
    ui = SimpleNamespace(notify=lambda text, kind="info": told.append(text), confirm=None)
    return SimpleNamespace(settings=settings, ui=ui, told=told, model=None)


async def test_models_are_discovered_from_the_users_own_settings(settings, gguf, tmp_path):
    gguf("m/tiny.gguf")

    row = await LlamaCpp(agent_dir=tmp_path / "agent").discover(provider_row(), StreamOptions(timeout_ms=60_000))

    assert [(model.reference, model.context_window) for model in row.models] == [("llamacpp/tiny", 8192)]


async def test_the_command_lists_models(ctx, gguf):
    gguf("m/tiny.gguf")

    await run_command("", ctx)

    (line,) = ctx.told
    assert line.split("  ")[0] == "tiny"
    assert "8,192 tokens" in line


async def test_the_command_says_where_it_looked_when_there_is_nothing(ctx):
    await run_command("list", ctx)

    assert ctx.told[0].startswith("No GGUF files were found")


@pytest.mark.parametrize("words", ["dance", "load", "rm", "unload a b"])
async def test_other_words_are_reported(ctx, words):
    with pytest.raises(UserError, match=f"Unknown arguments of /llama: '{words}'. Write /llama list"):
        await run_command(words, ctx)


async def test_nothing_to_unload_is_reported(ctx):
    await run_command("unload", ctx)

    assert ctx.told == ["No model is loaded."]


@pytest.mark.parametrize("yes", [True, False])
async def test_a_model_is_deleted_when_the_user_says_so(ctx, gguf, yes):
    path = gguf("m/tiny.gguf")

    async def confirm(title, message):
        assert str(path) in message
        return yes

    ctx.ui.confirm = confirm
    await run_command("rm tiny", ctx)

    assert path.exists() is not yes


def test_first_words_are_completed():
    assert complete("l") == ["list", "load"]


def run(capsys, settings, *arguments):
    code = run_subcommand([*arguments], SimpleNamespace(settings=settings))
    return code, *capsys.readouterr()


def test_the_subcommand_lists_as_lines_and_as_data(capsys, settings, gguf):
    path = gguf("m/tiny.gguf")

    assert "tiny" in run(capsys, settings, "list")[1]
    code, output, _ = run(capsys, settings, "list", "--json")
    (row,) = json.loads(output)
    assert (code, row["id"], row["path"], row["contextWindow"], row["error"]) == (0, "tiny", str(path), 8192, None)


def test_the_subcommand_has_exit_codes(capsys, settings, gguf):
    assert run(capsys, settings, "list")[0] == 1
    assert json.loads(run(capsys, settings, "list", "--json")[1]) == []
    assert run(capsys, settings, "dance")[0] == 2
    assert run(capsys, settings, "--help")[0] == 0
    code, _, error = run(capsys, settings, "rm", "-y", "gone")
    assert (code, "'gone'" in error) == (1, True)
    path = gguf("m/tiny.gguf")
    assert run(capsys, settings, "rm", "-y", "tiny")[0] == 0
    assert not path.exists()


@for_each("source", ["model.gguf", "owner/repo", "owner/repo:model.bin", "repo:model.gguf", "a/b/c:d.gguf"])
def test_what_names_no_file_is_not_downloaded(source):
    with pytest.raises(UserError, match="Write REPO:FILE"):
        pull(source)


def test_a_model_of_another_program_is_left_to_it(gguf):
    from pi_provider_llamacpp.finding import Found

    path = gguf()
    with pytest.raises(UserError, match="ollama rm qwen3:8b"):
        remove(Found("qwen3:8b", path, "Ollama", 1))
    assert path.exists()


def test_what_a_link_of_the_cache_leads_to_is_deleted_too(gguf, tmp_path):
    from pi_provider_llamacpp.finding import Found

    blob, link = gguf("blobs/abc"), tmp_path / "model.gguf"
    link.symlink_to(blob)

    remove(Found("model", link, "Hugging Face", 1))

    assert not blob.exists()
    assert not link.is_symlink()


def test_settings_that_make_no_sense_are_told_and_those_of_a_project_left_out(tmp_path):
    (tmp_path / "agent").mkdir()
    own, project = tmp_path / "agent" / "settings.json", tmp_path / ".pi" / "settings.json"
    own.write_text(json.dumps({"llamacpp": {"contextTokens": 3, "idleMinutes": True}}))
    project.parent.mkdir()
    project.write_text(json.dumps({"llamacpp": {"paths": ["/etc"]}}))

    settings = Settings.load(tmp_path, agent_dir=tmp_path / "agent", trust=True)
    PluginHost(settings).declare_settings(settings)

    options = read_options(settings)

    assert (options.paths, options.context_tokens, options.idle_seconds) == ((), 32_768, 600.0)
    assert ["is 3;" in options.problems[0], "is True;" in options.problems[1]] == [True, True]
    assert len(options.problems) == 2
    assert "'llamacpp.paths'" in settings.problems[0]
