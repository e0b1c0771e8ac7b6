"""Images of Gemini models: the contract, and what is particular to them."""

from __future__ import annotations

import pytest

from pi_hookspecs import Context, Model, ModelCost, StreamOptions, UserMessage
from pi_provider_google.providers import GenerativeImages
from pi_provider_kit import Http
from pi_testing import PNG, ImageCase, ImageContract
from pi_testing.fake_servers.google import FakeGoogle
from pi_testing.fake_servers.server import json_answer


class Case(ImageCase):
    def __init__(self, server, provider):
        self.server, self.provider = server, provider
        self.model = Model(
            id="gemini-fake-image",
            name="Fake",
            api=provider.api,
            provider="google",
            base_url=server.base_url,
            input=("text", "image"),
            cost=ModelCost(input=0.3, output=30),
            type="image",
        )

    def written(self, *images):
        parts = [{"text": "Here it is."}, *({"inlineData": {"mimeType": "image/png", "data": each}} for each in images)]
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 20, "totalTokenCount": 30}
        content = {"role": "model", "parts": parts}
        return {"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": usage}


@pytest.fixture
async def case():
    http = Http()
    async with FakeGoogle(check=False) as server:
        yield Case(server, GenerativeImages(http))
    await http.aclose()


class TestGenerativeImages(ImageContract):
    @pytest.fixture
    async def case(self, case):
        return case


async def last_of(case, **options):
    context = Context(messages=(UserMessage(content="A boat"),))
    events = case.provider.stream(case.model, context, StreamOptions(api_key="k", **options))
    return [event async for event in events][-1]


async def test_the_shape_of_the_image_is_asked_for(case):
    case.server.answers(json_answer(200, case.written(PNG)))
    last = await last_of(case, image_options={"aspect_ratio": "16:9", "size": "2K"})

    assert last.message.text == "Here it is."
    assert case.server.request.path == "/v1beta/models/gemini-fake-image:generateContent"
    assert case.server.request.json["generationConfig"] == {
        "responseModalities": ["TEXT", "IMAGE"],
        "imageConfig": {"aspectRatio": "16:9", "imageSize": "2K"},
    }


async def test_a_prompt_that_is_refused_says_why(case):
    case.server.answers(json_answer(200, {"promptFeedback": {"blockReason": "SAFETY"}}))
    last = await last_of(case)

    assert last.error.error_message.startswith("The prompt was refused: SAFETY")
