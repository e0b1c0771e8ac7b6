"""Where models are found: the user's paths, and the caches of Hugging Face, LM Studio and Ollama."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pi_hookspecs import UserError
from pi_provider_llamacpp.catalog import list_models, named, to_model
from pi_provider_llamacpp.finding import find_models, model_at
from pi_provider_llamacpp.options import Options


def put(path, size=10):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    return path


def found(tmp_path, *paths, **environ):
    return [(each.id, each.place) for each in find_models(paths, environ, tmp_path)]


def test_all_places_are_looked_at_and_the_users_own_come_first(tmp_path):
    put(tmp_path / "mine" / "deep" / "own.gguf")
    put(tmp_path / ".cache/huggingface/hub/models--a--b/snapshots/1/hub.gguf")
    put(tmp_path / ".lmstudio/models/a/b/studio.gguf")
    digest = "sha256:" + "a" * 64
    put(tmp_path / ".ollama/models/blobs" / digest.replace(":", "-"))
    manifest = put(tmp_path / ".ollama/models/manifests/registry.ollama.ai/library/qwen3/8b")
    manifest.write_text(json.dumps({"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": digest}]}))

    assert found(tmp_path, tmp_path / "mine") == [
        ("own", "paths"),
        ("hub", "Hugging Face"),
        ("studio", "LM Studio"),
        ("qwen3:8b", "Ollama"),
    ]


@pytest.mark.parametrize("variable", ["HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"])
def test_variables_move_the_cache_of_hugging_face(tmp_path, variable):
    inner = {"HF_HUB_CACHE": "", "HF_HOME": "hub", "XDG_CACHE_HOME": "huggingface/hub"}[variable]
    put(tmp_path / "else" / inner / "models--a--b/snapshots/1/hub.gguf")

    assert found(tmp_path, **{variable: str(tmp_path / "else")}) == [("hub", "Hugging Face")]


def test_a_model_in_parts_is_one_and_only_when_it_is_complete(tmp_path):
    put(tmp_path / "m" / "big-00001-of-00002.gguf", 10)
    assert found(tmp_path, tmp_path / "m") == []

    put(tmp_path / "m" / "big-00002-of-00002.gguf", 20)
    (model,) = find_models([tmp_path / "m"], {}, tmp_path)
    assert (model.id, model.size, model.count) == ("big", 30, 2)


def test_names_are_told_apart_and_a_file_is_listed_once(tmp_path):
    first = put(tmp_path / "m" / "a" / "same.gguf")
    put(tmp_path / "m" / "b" / "same.gguf")
    (tmp_path / "m" / "link.gguf").symlink_to(first)

    assert sorted(name for name, _ in found(tmp_path, tmp_path / "m", first)) == ["link", "same"]


def test_what_is_no_model_of_language_is_left_out(tmp_path, gguf):
    gguf("m/mmproj-model.gguf")
    gguf("m/vision.gguf", architecture="clip")
    gguf("m/chat.gguf")

    listed = list_models(Options(paths=(tmp_path / "m",)), tmp_path)

    assert [each.found.id for each in listed] == ["chat"]


def test_broken_manifests_and_loops_of_links_are_survived(tmp_path):
    put(tmp_path / ".ollama/models/manifests/registry.ollama.ai/library/a/b")
    put(tmp_path / ".ollama/models/manifests/registry.ollama.ai/library/a/c").write_text('{"layers": [{}]}')
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "again").symlink_to(tmp_path / "loop")

    assert found(tmp_path, tmp_path / "loop", tmp_path / "nowhere") == []


def test_a_listed_model_has_the_window_it_was_trained_for_or_that_of_the_settings(tmp_path, gguf):
    gguf("m/a.gguf", template="<think>")
    (listed,) = list_models(Options(paths=(tmp_path / "m",)), tmp_path)

    assert to_model(listed, Options()).context_window == 8192
    model = to_model(listed, Options(context_tokens=1024))
    assert (model.context_window, model.reasoning, model.reference) == (1024, True, "llamacpp/a")


def test_headers_are_read_once(tmp_path, gguf):
    path = gguf("m/a.gguf")
    options = Options(paths=(tmp_path / "m",))
    list_models(options, tmp_path)
    size, when = path.stat().st_size, path.stat()
    path.write_bytes(b"x" * size)
    import os

    os.utime(path, ns=(when.st_atime_ns, when.st_mtime_ns))

    assert list_models(options, tmp_path)[0].header.context_length == 8192


def test_a_cache_that_somebody_else_wrote_is_not_believed(tmp_path, gguf):
    gguf("m/a.gguf")
    put(tmp_path / "cache" / "gguf.json").write_text('{"format": 1, "headers": []}')

    assert list_models(Options(paths=(tmp_path / "m",)), tmp_path)[0].header.layers == 2


def test_without_time_files_are_listed_by_their_names(tmp_path, gguf):
    gguf("m/a.gguf")

    (listed,) = list_models(Options(paths=(tmp_path / "m",)), tmp_path, seconds=-1)

    assert (listed.header, to_model(listed, Options()).id) == (None, "a")


def test_a_damaged_file_is_listed_with_what_is_wrong(tmp_path):
    put(tmp_path / "m" / "broken.gguf")

    (listed,) = list_models(Options(paths=(tmp_path / "m",)), tmp_path)

    assert "does not begin with the letters GGUF" in listed.problem


def test_a_model_is_named_in_part_where_that_is_clear(tmp_path, gguf):
    gguf("m/Qwen3-8B.gguf")
    gguf("m/Qwen3-4B.gguf")
    models = list_models(Options(paths=(tmp_path / "m",)), tmp_path)

    assert named("llamacpp/qwen3-8b", models).found.id == "Qwen3-8B"
    assert named("4b", models).found.id == "Qwen3-4B"
    with pytest.raises(UserError, match="matches several models: Qwen3-4B, Qwen3-8B"):
        named("qwen", models)
    with pytest.raises(UserError, match="No GGUF file on this disk is the model 'gemma'"):
        named("gemma", models)


def test_a_path_that_leads_nowhere_is_reported(tmp_path):
    with pytest.raises(UserError, match=r"gone\.gguf' of 'gone' cannot be read: No such file"):
        model_at(str(tmp_path / "gone.gguf"), "gone")


def test_the_cache_is_that_of_the_library(tmp_path):
    from pi_provider_llamacpp.finding import hub_cache

    assert hub_cache({}, Path("/home/me")) == Path("/home/me/.cache/huggingface/hub")
