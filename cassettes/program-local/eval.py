"""Put questions with known answers to a model, and score exact answers."""

import argparse
import csv
import json
import os
import re
import urllib.request
from pathlib import Path

INSTRUCTION = "Answer with the number or the word alone, without a sentence."


def ask(url: str, model: str, question: str) -> str:
    """Return a model's answer, from a server that speaks OpenAI's format."""
    body = {
        "model": model,
        "messages": [
            {"role": "system", "content": INSTRUCTION},
            {"role": "user", "content": question},
        ],
        "temperature": 0,
        "max_tokens": 32,
        "cache_prompt": False,
    }
    request = urllib.request.Request(
        f"{url}/chat/completions",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]["content"]


def plain(text: str) -> str:
    """Return an answer without case, spaces and marks at its ends."""
    return re.sub(r"^\W+|\W+$", "", text.strip().lower())


def share(rows: list[dict]) -> dict:
    """Return how many of some answers are right."""
    right = sum(row["right"] for row in rows)
    return {"n": len(rows), "right": right, "accuracy": right / len(rows)}


def main() -> None:
    """Ask everything, and write scores.json and answers.csv."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    model = parser.parse_args().model
    url = os.environ[re.sub(r"\W", "_", model).upper() + "_URL"]
    rows = []
    for line in Path("questions.jsonl").read_text().splitlines():
        entry = json.loads(line)
        answer = ask(url, model, entry["question"])
        expected = entry.pop("answers")
        right = int(plain(answer) in map(plain, expected))
        rows.append({**entry, "expected": "|".join(expected), "answer": answer, "right": right})
    kinds = sorted({row["kind"] for row in rows})
    scores = {kind: share([row for row in rows if row["kind"] == kind]) for kind in kinds}
    Path("scores.json").write_text(json.dumps({"model": model, "all": share(rows), **scores}))
    with open("answers.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, ["id", "kind", "question", "expected", "answer", "right"])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
