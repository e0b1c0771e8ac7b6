"""A prompt is kept in the provider's cache only if a refresh costs less than five cents."""

from pi_hookspecs import CacheWarmingDecisionResult, hookimpl

MOST = 0.05


@hookimpl
def cache_warming_decision(event):
    if event.plan.refresh_cost > MOST:
        return CacheWarmingDecisionResult(warm=False, reason=f"a refresh costs more than ${MOST:.2f}")
    return None


# Test

from attrs import evolve

from pi_hookspecs.samples import sample_event
from pi_hookspecs.specs import request


async def test_example(pi_session):
    event = sample_event("cache_warming_decision")
    cheap = evolve(event, plan=evolve(event.plan, refresh_cost=0.01))

    answer = await pi_session.hooks.call(request.cache_warming_decision, event, pi_session.ctx)

    assert (answer.warm, answer.reason) == (False, "a refresh costs more than $0.05")
    assert await pi_session.hooks.call(request.cache_warming_decision, cheap, pi_session.ctx) is None
