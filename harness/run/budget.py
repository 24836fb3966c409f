"""Keep the cost of a recording in sight: what was spent, and a limit that is never passed.

A call in flight counts at its maximum, a token a byte in and its token limit out, until its answer
says what it used; an answer that does not say stays at its maximum.
"""

from __future__ import annotations

import threading

import httpx
import msgspec

from harness.asking.models.provider import UNREADABLE, provider_of
from harness.errors import Incomplete, UsageError
from harness.results import Price, Prices
from harness.run.estimate import limit_sent
from harness.study.folder import Study


class CostLimit(Incomplete):
    """The next call could pass the cost limit; nothing more is sent."""


class Budget:
    """What this recording has spent, and may spend; without prices spending is unknown."""

    def __init__(self, limit: float | None = None) -> None:
        self._limit = limit
        self._held = 0.0
        self.spent = 0.0
        self._guard = threading.Lock()

    def hold(self, most: float, call: str) -> None:
        """Set money aside for a call; raises CostLimit where it could pass the limit."""
        with self._guard:
            if self._limit is not None and self.spent + self._held + most > self._limit:
                raise CostLimit(
                    f"{call}: not sent. {self.spent:.4f} are spent, {self._held:.4f} may still be "
                    f"by calls in flight, and this one may cost {most:.4f}: that could pass the "
                    f"cost limit of {self._limit:g}. Go on with a higher --cost-limit."
                )
            self._held += most

    def settle(self, most: float, cost: float) -> None:
        """Take back what was set aside, and count what was used."""
        with self._guard:
            self._held -= most
            self.spent += cost


class PricedTransport(httpx.BaseTransport):
    """Send through `inner`, and have the budget follow."""

    def __init__(
        self, inner: httpx.BaseTransport, budget: Budget, price: Price, provider: str
    ) -> None:
        self._inner, self._budget = inner, budget
        self._price, self._provider = price, provider_of(provider)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request; a call without an answer costs nothing."""
        most = self._most(request.read())
        self._budget.hold(most, str(request.extensions.get("call")))
        cost = 0.0
        try:
            response = self._inner.handle_request(request)
            cost = self._cost(response, most)
            return response
        finally:
            self._budget.settle(most, cost)

    def close(self) -> None:
        """Close the transport below."""
        self._inner.close()

    def _most(self, body: bytes) -> float:
        limit = self._provider.token_limit(msgspec.json.decode(body))
        return self._price.of(len(body), limit or 0)

    def _cost(self, response: httpx.Response, most: float) -> float:
        if response.status_code >= 400:
            return 0.0
        try:
            tokens = self._provider.content(msgspec.json.decode(response.read())).tokens
        except UNREADABLE:
            tokens = None
        return most if tokens is None else self._price.of(*tokens)


def check_limit(study: Study, prices: Prices | None) -> None:
    """Raise UsageError where a cost limit cannot be kept: a price or a token limit is missing."""
    for name in study.file.models:
        if prices is None or name not in prices.models:
            raise UsageError(
                f"--cost-limit: the price of {name} is not known; give a price list that has it "
                "with --prices FILE."
            )
    params = study.file.params_of_role
    for role, names in study.file.plan.roles.items():
        for name in names:
            model = study.file.models[name].endpoint(name, None)
            if limit_sent(model, params.get(role, {})) is None:
                raise UsageError(
                    f"--cost-limit: {name} as {role} has no token limit (max_tokens), so the most "
                    "a call may cost is not known."
                )
