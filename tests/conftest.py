"""A small study, recorded once per test run against a real loopback server."""

import os
import shutil
from pathlib import Path

import pytest
from loopback import Loopback
from provider import Provider
from study_text import study_text

from harness.run.record import Recording
from harness.study.folder import Study


@pytest.fixture(scope="session")
def recorded_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("recorded")
    folder = root / "cassettes" / "small"
    folder.mkdir(parents=True)
    with Loopback(Provider()) as server:
        (folder / "study.toml").write_text(study_text(server.url))
        outcome = Recording(Study(folder)).run()
        assert outcome.problems == []
    return root


@pytest.fixture
def recorded(recorded_once: Path, tmp_path: Path) -> Path:
    """Give a copy of the recorded study's root, to do with as a test likes."""
    root = tmp_path / "copy"
    shutil.copytree(recorded_once, root)
    return root


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a CI run that skipped a test, but for the folder beside the checkout or the kernel's."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not os.environ.get("CI") or reporter is None:
        return
    reasons = {report.longrepr[2] for report in reporter.stats.get("skipped", [])}
    may_lack = ("needs ../shared", "needs user namespaces")
    unexpected = {reason for reason in reasons if not any(lack in reason for lack in may_lack)}
    if unexpected:
        reporter.write_line(f"skipped in CI: {sorted(unexpected)}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
