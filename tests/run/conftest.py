"""A drill of four domains, some of its passages not open, recorded once for all of bundles."""

import shutil
from pathlib import Path

import pytest
from drilling import answering, world, write_drill
from loopback import Loopback
from packing import licensed

from harness.run.record import Recording
from harness.study.folder import Study


@pytest.fixture(scope="session")
def drill_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("drill")
    with Loopback(answering(world(accuracy=(0.9, 0.5)), licensed)) as server:
        study = write_drill(
            root,
            server.url,
            targets=("target-1", "target-2"),
            domains=("Medicine", "Ancient Rome", "Law", "Physics"),
            questions=2,
            max_depth=2,
        )
        assert Recording(study).run(4).problems == []
    return root


@pytest.fixture
def drill(drill_once: Path, tmp_path: Path) -> Study:
    shutil.copytree(drill_once, tmp_path / "drilled")
    return Study(tmp_path / "drilled/cassettes/drill")
