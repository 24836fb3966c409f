"""A pytest plugin: the fixture `harness` is a RecordingTransport with a cassette of the test.

In the words of pytest-recording: --record-mode, --block-network, and the marker `harness` in place
of `vcr`. Where that plugin is installed too, its options serve both. Load it with
`pytest_plugins = ["harness.pytest_plugin"]` in conftest.py, or `-p harness.pytest_plugin`.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.recording.bypass import offline
from harness.recording.recorder import Mode
from harness.recording.transport import RecordingTransport

MODES: dict[str, Mode] = {
    "none": "none",
    "once": "once",
    "new_episodes": "new_episodes",
    "all": "all",
    "rewrite": "all",
}


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options, unless pytest-recording brings them."""
    if find_spec("pytest_recording") and not pluginmanager.is_blocked("recording"):
        return
    group = parser.getgroup("harness")
    group.addoption("--record-mode", default=None, choices=sorted(MODES))
    group.addoption("--block-network", action="store_true", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        "harness(cassette=NAME, mode=MODE): the cassette of the fixture `harness`, and how it is "
        "used where --record-mode does not say.",
    )


@pytest.fixture
def harness(request: pytest.FixtureRequest) -> Iterator[RecordingTransport]:
    """Return a transport that replays cassettes/MODULE/TEST.json, or records it.

    A call that is not recorded, and one that is and was not asked for, fails the test, even where
    the program swallows the error.
    """
    marker = request.node.get_closest_marker("harness")
    wishes = marker.kwargs if marker else {}
    mode = MODES[request.config.getoption("--record-mode", None) or wishes.get("mode", "none")]
    module = Path(request.node.path)
    name = wishes.get("cassette", f"{request.node.name}.json").replace("/", "_")
    transport = RecordingTransport(module.parent / "cassettes" / module.stem / name, mode=mode)
    yield transport
    try:
        if transport.recorder.replays:
            transport.check()
    finally:
        transport.finish()


@pytest.fixture(autouse=True)
def _blocked_network(request: pytest.FixtureRequest) -> Iterator[None]:
    """Refuse connections that go past the transport, with --block-network."""
    if not request.config.getoption("--block-network", False):
        yield
        return
    with offline():
        yield
