import time

import anyio
import pytest

pytest.register_assert_rewrite("sdk.stage")


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Take note of how long the SDK would sleep, and go on at once."""
    lengths: list[float] = []

    def note(seconds: float) -> None:
        lengths.extend([seconds] if seconds else [])  # the test provider's delay is 0

    async def note_async(seconds: float) -> None:
        note(seconds)

    monkeypatch.setattr(time, "sleep", note)
    monkeypatch.setattr(anyio, "sleep", note_async)
    return lengths
