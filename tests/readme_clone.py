"""A clean clone of this repository, in which the README's commands are run as they are printed."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from study_text import study_text

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
COPIED = ("harness", "cassettes", "checksums", "scripts", "README.md", "pyproject.toml", "LICENSE")
ACTIVATION = "source .venv/bin/activate"
ROLES = ("subject", "interviewer", "judge")
NAMES = ("subject-a", "interviewer", "judge-a", "judge-b", "judge-c", "judge-x", "judge-y")
CODE = re.compile(r"exit code (\d)")


class Printed(NamedTuple):
    """A command of the README, and the exit code that stands behind it, 0 where none does."""

    words: str
    code: int


def printed_commands() -> Iterator[Printed]:
    """Yield every command of the README's shell blocks, in its order."""
    for block in re.findall(r"```bash\n(.*?)```", README, re.DOTALL):
        for line in block.splitlines():
            words = " ".join(map(shlex.quote, shlex.split(line, comments=True)))
            if words:
                code = CODE.search(line)
                yield Printed(words, int(code[1]) if code else 0)


def make_clone(folder: Path, url: str) -> None:
    """Put the repository there as one has it after a clone and an install.

    Beside it stand what the README takes for granted: a study of one's own whose models are at
    `url`, a price list, a claims file, results to hold it against, and a paper's source.
    """
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    _install(folder)
    _write_own_study(folder, url)
    rows = "".join(f"[models.{name}]\nprompt = 1\ncompletion = 2\n" for name in NAMES)
    (folder / "prices.toml").write_text(f'as_of = 2026-01-31\ncurrency = "EUR"\n{rows}')
    [claims] = [block for block in _blocks("toml") if "[claim." in block]
    (folder / "mine.toml").write_text(claims)
    shutil.copy(ROOT / "cassettes/ddft-local/results.json", folder)
    shutil.copy(ROOT / "tests/audit/tables/benchmarks.tex", folder / "paper.tex")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def _install(folder: Path) -> None:
    """Make a .venv with this environment's libraries, as scripts/install leaves one behind."""
    venv.create(folder / ".venv", symlinks=True)
    [packages] = (folder / ".venv/lib").glob("python*/site-packages")
    libraries = [path for path in sys.path if path.endswith("-packages")]
    (packages / "clone.pth").write_text("\n".join([str(folder), *libraries]))
    python = folder / ".venv/bin/python"
    command = folder / ".venv/bin/harness"
    command.write_text(f"#!{python}\nfrom harness.cli import main\nmain()\n")
    command.chmod(0o755)
    for kind, lock in (("runtime", "requirements.lock"), ("test", "requirements-test.lock")):
        shutil.copy(ROOT / lock, folder)
        shutil.copy(ROOT / lock, folder / f".venv/installed-{kind}")


def _write_own_study(folder: Path, url: str) -> None:
    limits = "".join(f"[ddft.params.{role}]\nmax_tokens = 50\n" for role in ROLES)
    more_than_a_pilot = "[0.0, 0.25, 0.5, 1.0]"
    text = study_text(
        url,
        subjects=("subject-a",),
        concepts=("recursion",),
        levels=more_than_a_pilot,
        extra=limits,
    )
    more = "".join(
        f'[models.{name}]\nbase_url = "{url}/v1"\nmodel = "{name}"\n' for name in NAMES[5:]
    )
    own = folder / "cassettes" / "my-study"
    own.mkdir()
    (own / "study.toml").write_text(text + more)


def run_printed(folder: Path, words: str, *, activated: bool) -> subprocess.CompletedProcess[str]:
    """Run one printed command in the clone with nothing but the system's own PATH."""
    before = f"{ACTIVATION} && " if activated else ""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}
    return subprocess.run(
        ["bash", "-c", f"{before}{words}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
