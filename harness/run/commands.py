"""Run a study's command with the recording in front of it, and ask before running a stranger's."""

from __future__ import annotations

import hashlib
import os
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import msgspec

from harness.asking.models.provider import provider_of
from harness.errors import DamagedFile, UsageError
from harness.files import make_folder
from harness.isolation.isolated import Launch, can_isolate
from harness.isolation.isolated import run as run_isolated
from harness.protocols.seam import Command, CommandCall, CommandRun, RunCommand
from harness.proxy.endpoints import ServedEndpoint
from harness.proxy.reverse import ReverseProxy
from harness.proxy.run import RunningProxy
from harness.recording import guard
from harness.recording.interaction import Interaction
from harness.recording.recorder import Recorder
from harness.run.tally import Tally
from harness.study.folder import Study

KEPT = 100_000  # bytes of a command's output
NO_KEY = "not-needed"
RUN_PROGRAM = "HARNESS_RUN_PROGRAM"  # "isolated" or "unisolated"; --run-program sets it
OUR_OWN = frozenset(  # the programs of the studies that come with this package, by their sum
    {"7e51b97eaca226bed9088e033870a4176ae19a3f2dbd98ad9012cdab95bb57e2"}
)


def command_runner(
    study: Study, recorder: Recorder, keys: Mapping[str, str], tally: Tally | None = None
) -> RunCommand | None:
    """Return what runs a cell's command over its recorder; None where a study has no endpoints.

    keys: by endpoint; the proxy puts them in, and the command has none. tally: of a recording,
    which runs the command on its owner's word.
    """
    entries = study.file.endpoints
    if not entries:
        return None
    if tally is not None:
        trust(study)
    served = {name: ServedEndpoint(**entry.model_dump()) for name, entry in entries.items()}
    environment = {entries[name].api_key_env: key for name, key in keys.items()}

    def run(command: Command) -> CommandRun:
        isolated = can_isolate_here()
        if not isolated and recorder.replays and not _is_ours(study):
            _require_unisolated(study)
        stop = threading.Event()

        @contextmanager
        def serve(listener: socket.socket) -> Iterator[Mapping[str, str]]:
            proxy = ReverseProxy(
                study.folder,
                served,
                "replay" if recorder.replays else "record",
                recorder=recorder,
                listener=listener,
                keys=environment,
                report=lambda _: stop.set(),
            )
            with RunningProxy(proxy):
                yield _variables(proxy, served)

        out, err = command.folder / "stdout", command.folder / "stderr"
        launch = Launch(command.arguments, command.folder, command.timeout, out, err)
        with guard.lifted():
            ended = run_isolated(launch, serve, stop, isolated=isolated)
        if tally is not None:
            tally.add(calls=recorder.sent)
        if (reason := recorder.stopped) is not None:
            raise reason
        if ended.code == 0 and not ended.timed_out:
            recorder.check()
        return CommandRun(
            ended.code,
            ended.timed_out,
            ended.attempts,
            ended.isolation,
            _tail(out),
            _tail(err),
            [_call(entry, served) for entry in recorder.cassette],
            sends=not recorder.replays,
        )

    return run


@cache
def can_isolate_here() -> bool:
    """Tell whether commands get a network of their own on this system."""
    with guard.lifted():
        return can_isolate()


def _variables(proxy: ReverseProxy, served: Mapping[str, ServedEndpoint]) -> dict[str, str]:
    """Return the variables that lead a command's clients to the proxy, and keys that are none."""
    variables: dict[str, str] = {}
    for name, endpoint in served.items():
        variables |= dict.fromkeys(endpoint.variables, proxy.url(name))
        if endpoint.api_key_env:
            variables[endpoint.api_key_env] = NO_KEY
        if endpoint.kind:
            variables.setdefault(f"{endpoint.kind.upper()}_API_KEY", NO_KEY)
        variables[f"HARNESS_URL_{re.sub(r'[^A-Z0-9]', '_', name.upper())}"] = proxy.url(name)
    return variables


def _tail(path: Path) -> str:
    data = path.read_bytes() if path.exists() else b""
    return data[-KEPT:].decode("utf-8", "replace")


def _call(interaction: Interaction, served: Mapping[str, ServedEndpoint]) -> CommandCall:
    endpoint = interaction.response.endpoint
    kind = served[endpoint].kind if endpoint in served else ""
    body = interaction.body_bytes
    text, model, tokens = body.decode("utf-8", "replace"), "", None
    if kind:
        with suppress(msgspec.DecodeError, KeyError, IndexError, TypeError, AttributeError):
            content = provider_of(kind).content(msgspec.json.decode(body))
            text, model, tokens = content.text, content.served, content.tokens
    request = interaction.request_bytes.decode("utf-8", "replace")
    return CommandCall(endpoint, request, text, model, tokens)


def trust(study: Study) -> None:
    """Note that this program is run on this machine by who records it."""
    if not study.file.endpoints or _is_trusted(study):
        return
    path = _trusted_file()
    make_folder(path.parent)
    with path.open("a") as file:
        file.write(f"{_program_sum(study)}\n")


def require_trust(study: Study) -> None:
    """Raise UsageError where a replay would run a program that nobody here has agreed to."""
    if not study.file.endpoints or os.environ.get(RUN_PROGRAM) or _is_trusted(study):
        return
    command = " ".join(getattr(study.file.plan, "command", ()))
    raise UsageError(
        f"{study.name}: to replay this study runs its program on this machine: {command!r}. It was "
        "not recorded here, or was changed since. Nothing was run. Read it first, then say "
        f"`harness replay --run-program` (other commands: {RUN_PROGRAM}=isolated). It gets a "
        "network of its own; it can read your files, and write none."
    )


def _require_unisolated(study: Study) -> None:
    if os.environ.get(RUN_PROGRAM) != "unisolated":
        raise UsageError(
            f"{study.name}: this system gives a program no network of its own, so a replay could "
            "reach the internet. Nothing was run. If that is all right: --run-program-unisolated"
        )


def _is_ours(study: Study) -> bool:
    return _program_sum(study) in OUR_OWN


def _is_trusted(study: Study) -> bool:
    path = _trusted_file()
    lines = path.read_text().split() if path.is_file() else []
    return _is_ours(study) or _program_sum(study) in lines


def _trusted_file() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local/state")
    return Path(state) / "harness" / "programs"


def _program_sum(study: Study) -> str:
    """Return the SHA-256 of all that a study runs: its table and its files."""
    total = hashlib.sha256(study.file.plan.model_dump_json().encode())
    for name in study.file.plan.listed_files:
        path = study.folder / name
        if not path.is_file():
            raise DamagedFile(f"{path}: study.toml lists this file, and it is not there.")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()
