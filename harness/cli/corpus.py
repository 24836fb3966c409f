"""harness corpus serve, harness corpus check: facts with citations, on this machine alone."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import click

from harness.cli.group import EXIT_CODES, fail, main, told

FILES = click.argument("files", nargs=-1, type=click.Path(path_type=Path))


@main.group(epilog=EXIT_CODES)
def corpus() -> None:
    """Serve the embedded corpus as a source of facts, or check one."""


@corpus.command(epilog=EXIT_CODES)
@FILES
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=18160,
    show_default=True,
    help="0 for any that is free.",
)
@told
def serve(files: tuple[Path, ...], port: int) -> None:
    """Serve FILES (JSONL, or folders of it; default: the package's) on 127.0.0.1 until ended.

    In the shapes of Wikipedia's REST summaries and action API and of SearXNG's JSON: a source of
    kind wikipedia-summary, wikipedia-extract or searxng with the printed address as its base_url.
    Behind the address a tier, a domain or both narrow what is found (http://.../COMMON); a SearXNG
    source can name tiers as its categories and domains as its engines instead.
    """
    from harness.corpus.entries import read_corpus
    from harness.corpus.index import Index
    from harness.corpus.server import CorpusServer

    entries = read_corpus(files)
    with CorpusServer(Index(entries), port) as server:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        click.echo(f"serving {len(entries)} entries at {server.url} (Ctrl-C ends it)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            fail("interrupted", 130)


@corpus.command(epilog=EXIT_CODES)
@FILES
@told
def check(files: tuple[Path, ...]) -> None:
    """Check FILES (JSONL, or folders of it; default: the package's); count by domain and tier."""
    from harness.corpus.entries import count, read_corpus

    entries = read_corpus(files)
    for (domain, tier), number in count(entries).items():
        click.echo(f"{number:6d}  {domain}, {tier}")
    click.echo(f"{len(entries):6d}  in all")
