"""The contract suite for image models: what their providers must do with good and with bad answers.

```python
class TestMyImages(ImageContract):
    @pytest.fixture
    async def case(self):
        async with FakeServer() as server:
            yield MyImageCase(server)
```
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve

from pi_hookspecs import AbortController, ImageContent, PiError, StreamOptions
from pi_testing.fake_servers import html_page, json_answer, silence
from pi_testing.patience import soon
from pi_testing.steps import PNG

if TYPE_CHECKING:
    from pi_hookspecs import AssistantMessage, Context, GeneratedImages, Model, Provider, SideRequest
    from pi_testing.fake_servers import Answer, FakeServer

__all__ = ["ImageCase", "ImageContract"]

_HUGE = 50 * 1024 * 1024
"""Bytes of an answer that no image needs."""


class ImageCase(ABC):
    """A provider of an image model, and its API's answers.

    Attributes:
        provider: The provider under test.
        model: Its model, of type ``image``, with prices and the address of the server.
        server: The server of the model.
        api_key: Sent with every request; it must not appear in any message or error.
    """

    provider: Provider
    model: Model
    server: FakeServer
    api_key: str | None = "sk-contract-0123456789"

    @abstractmethod
    def written(self, *images: str) -> Any:
        """Return the JSON of an answer with these images, in base64; it counts 10 tokens of input and 20 of output."""


class ImageContract:
    """All tests of the contract; a subclass whose name begins with ``Test`` defines the fixture ``case``."""

    pytestmark = pytest.mark.asyncio

    @pytest.fixture
    def case(self) -> ImageCase:
        """Return the provider under test, with a separate server for each test."""
        raise NotImplementedError(f"{type(self).__name__} needs a fixture 'case' that returns an ImageCase")

    async def test_the_images_of_an_answer_are_returned_with_what_they_cost(self, case: ImageCase) -> None:
        case.server.answers(json_answer(200, case.written(PNG, PNG)))
        drawn = await draw(case, "A lighthouse", options={"count": 2})

        assert [(each.data, each.mime_type) for each in drawn.images] == [(PNG, "image/png")] * 2
        assert (drawn.usage.input, drawn.usage.output) == (10, 20)
        assert drawn.usage.cost.total > 0
        assert "A lighthouse" in str(case.server.request.json)

    async def test_images_to_start_from_are_sent_or_refused(self, case: ImageCase) -> None:
        case.server.answers(json_answer(200, case.written(PNG)))
        given = ImageContent(PNG, "image/png")
        if "image" in case.model.input:
            await draw(case, "In winter", images=[given])
            assert PNG in str(case.server.request.json)
        else:
            with pytest.raises(PiError, match="accepts no input images"):
                await draw(case, "In winter", images=[given])

    async def test_a_hook_can_replace_the_payload(self, case: ImageCase) -> None:
        async def on_payload(payload: Any, _model: Model) -> Any:
            return {**payload, "note": "replaced"}

        case.server.answers(json_answer(200, case.written(PNG)))
        await draw(case, "A lighthouse", stream={"on_payload": on_payload})

        assert case.server.request.json["note"] == "replaced"

    async def test_an_answer_without_an_image_is_a_failure(self, case: ImageCase) -> None:
        others: tuple[Any, ...] = ({}, [], None, "text", {"data": [{}]}, {"candidates": [{"content": None}]})
        for answer in (case.written(), *others):
            case.server.answers(json_answer(200, answer))
            with pytest.raises(PiError) as failed:
                await draw(case, "A lighthouse")
            assert case.model.reference in str(failed.value)

    async def test_what_is_no_image_is_a_failure(self, case: ImageCase) -> None:
        for data, reason in ((PNG[:8] + "!", "not valid base64"), ("PGh0bWw+", "not a PNG, JPEG, GIF or WebP image")):
            case.server.answers(json_answer(200, case.written(data)))
            with pytest.raises(PiError, match=reason):
                await draw(case, "A lighthouse")

    async def test_an_html_page_is_a_failure(self, case: ImageCase) -> None:
        case.server.answers(html_page(200, "Welcome"))
        with pytest.raises(PiError) as failed:
            await draw(case, "A lighthouse")

        assert "<html" not in str(failed.value).lower()

    async def test_a_refusal_is_a_failure_in_the_server_s_words_without_the_key(self, case: ImageCase) -> None:
        case.server.answers(json_answer(400, {"error": {"message": f"The key {case.api_key} may not draw"}}))
        with pytest.raises(PiError, match="may not draw") as failed:
            await draw(case, "A lighthouse")

        assert case.api_key is None or case.api_key not in str(failed.value)

    async def test_a_huge_image_is_a_failure(self, case: ImageCase) -> None:
        case.server.answers(json_answer(200, case.written(PNG[:8] + "A" * _HUGE)))
        with pytest.raises(PiError, match="pi accepts at most 32 MB"):
            await draw(case, "A lighthouse")

    async def test_an_abort_ends_the_wait_for_an_answer(self, case: ImageCase) -> None:
        controller, asked = AbortController(), asyncio.Event()

        def wait(_request: Any) -> Answer:
            asked.set()
            return silence()

        case.server.answers(wait)
        answer = asyncio.create_task(draw(case, "A lighthouse", stream={"signal": controller.signal}))
        await soon(asked.wait(), lambda: "the request to arrive")
        controller.abort()

        with pytest.raises(PiError, match="aborted"):
            await soon(answer, lambda: "the request to end")


async def draw(case: ImageCase, prompt: str, *, stream: dict[str, Any] | None = None, **more: Any) -> GeneratedImages:
    """Ask the model for images as ``ctx.models.generate_image`` does."""
    from pi_core import OtherRequests

    async def complete(context: Context, request: SideRequest) -> AssistantMessage:
        options = StreamOptions(api_key=case.api_key, image_options=request.image_options)
        events = case.provider.stream(case.model, context, evolve(options, **(stream or {})))
        *_, last = [event async for event in events]
        assert last.type in ("done", "error"), f"the last event is {last.type}"
        return last.message if last.type == "done" else last.error

    registry: Any = _NoRegistry()
    return await OtherRequests(registry, complete).generate_image(case.model, prompt, **more)


class _NoRegistry:
    def get_models_of_type(self, _model_type: str) -> list[Model]:
        return []
