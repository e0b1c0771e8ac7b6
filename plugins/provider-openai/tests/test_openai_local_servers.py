"""Servers on this machine: those that answer are offered, the others hold nobody up."""

from __future__ import annotations

import pytest

from pi_provider_openai import discover_local_models
from pi_provider_openai._local import LOCAL_SERVERS, LocalServer, is_local
from pi_testing.fake_servers import FakeServer, closed_url, silence
from pi_testing.fake_servers.openai import FakeOpenAI


def at(name, base_url):
    return LocalServer(name, name.title(), base_url, {"supportsStore": False})


async def test_the_usual_ports():
    assert {server.id: server.base_url for server in LOCAL_SERVERS} == {
        "ollama": "http://127.0.0.1:11434/v1",
        "lmstudio": "http://127.0.0.1:1234/v1",
        "llama-cpp": "http://127.0.0.1:8080/v1",
        "vllm": "http://127.0.0.1:8000/v1",
    }


async def test_a_server_that_answers_is_a_provider_without_a_key():
    rows = ["qwen3:8b", {"id": "/models/a.gguf", "meta": {"n_ctx_train": 4096}}, {"id": "v", "max_model_len": 65_536}]
    async with FakeOpenAI(models=rows, keyless=True) as server:
        (info,) = await discover_local_models(5, servers=[at("ollama", server.base_url)])

    assert (info.id, info.name, info.api, info.keyless) == ("ollama", "Ollama", "openai-completions", True)
    assert (info.default_model, info.base_url) == (None, server.base_url)
    assert [(model.id, model.name, model.context_window, model.max_tokens) for model in info.models] == [
        ("qwen3:8b", "qwen3:8b", 128_000, 16_384),
        ("/models/a.gguf", "a.gguf", 4096, 4096),
        ("v", "v", 65_536, 16_384),
    ]
    assert info.models[0].compat == {"supportsStore": False}


async def test_servers_that_do_not_answer_are_left_out():
    async with FakeServer() as hanging, FakeOpenAI(keyless=True) as server:
        hanging.answers(silence())
        found = await discover_local_models(
            0.5,
            servers=[
                at("closed", f"{closed_url()}/v1"),
                at("silent", f"{hanging.url}/v1"),
                at("other", f"{server.url}/elsewhere"),
                at("good", server.base_url),
            ],
        )

    assert [info.id for info in found] == ["good"]


@pytest.mark.parametrize("listed", [{}, [], {"data": None}, {"data": []}, {"data": ["x", {"id": 5}]}, "x"])
async def test_something_else_at_the_port_is_left_out(listed):
    from pi_provider_kit import Http, import_httpx

    httpx = import_httpx()
    http = Http(lambda: httpx.MockTransport(lambda request: httpx.Response(200, json=listed)))

    assert await discover_local_models(5, servers=[at("x", "http://127.0.0.1:1/v1")], http=http) == ()


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.0.0.1:1", True),
        ("http://[::1]:1", True),
        ("http://192.168.1.5:8000/v1", True),
        ("http://box.local/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://8.8.8.8/v1", False),
        ("http://999.1.1.1/v1", False),
        ("", False),
    ],
)
def test_which_hosts_are_somebody_s_own(base_url, expected):
    assert is_local(base_url) is expected
