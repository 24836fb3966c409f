"""harness serve, harness finish: recordings of programs that are started elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.group import EXIT_CODES, main, told


@main.command(epilog=EXIT_CODES, short_help="Make a cassette of a journal that was left.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@told
def finish(file: Path) -> None:
    """Make the cassette FILE of the journal beside it, which a killed program has left.

    Nothing is sent. A cell of a study is not finished so: `harness record` goes on with it.
    """
    from harness.recording.finish import finish as finish_cassette

    click.echo(f"{file}: {finish_cassette(file)} calls")


@main.command(epilog=EXIT_CODES, short_help="Record or replay what any program asks, by a proxy.")
@click.argument("study", type=click.Path(path_type=Path, file_okay=False))
@click.option("--record", "mode", flag_value="record", help="Send what is not recorded.")
@click.option("--replay", "mode", flag_value="replay", default="replay", help="Send nothing.")
@click.option("--port", default=0, help="The port on 127.0.0.1 (default: a free one).")
@click.option(
    "--endpoint",
    multiple=True,
    metavar="NAME=URL",
    help="What the program asks; in a folder without study.toml, one is written with it.",
)
@told
def serve(study: Path, mode: str, port: int, endpoint: tuple[str, ...]) -> None:
    """Serve the endpoints of the folder STUDY on this machine, for programs started elsewhere.

    A client asks http://127.0.0.1:PORT/ENDPOINT/... instead of the endpoint's base_url, or
    /c/CELL/ENDPOINT/... where there are several cells; every cell has a cassette in the folder.
    Ctrl-C ends it. The exit code is 1 where a call was not as recorded, or was refused.
    """
    from harness.proxy.endpoints import read_endpoints
    from harness.proxy.reverse import ReverseProxy
    from harness.proxy.run import serve as serve_proxy

    endpoints = read_endpoints(study, endpoint)
    proxy = ReverseProxy(study, endpoints, "record" if mode == "record" else "replay")

    def started() -> None:
        click.echo(f"http://127.0.0.1:{proxy.port} ({mode}); Ctrl-C ends it")
        for name, served in endpoints.items():
            variables = "".join(f"{variable}=" for variable in served.variables[:1])
            click.echo(f"{variables or name + ': '}{proxy.url(name)}")

    tally = serve_proxy(proxy, port, started)
    click.echo(tally.words())
    if not tally.good:
        raise SystemExit(1)
