"""harness calibrate: a blind sheet out, human scores in, and how far the jury agrees with them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from loopback import Answer, Loopback, Received, json_answer
from provider import Provider
from sklearn.metrics import cohen_kappa_score
from study_folder import unpublish
from study_text import study_text

from harness.cli import main
from harness.errors import CheckFailed, UsageError
from harness.jury.calibrate import (
    COLUMNS,
    CONSENSUS,
    RaterComparison,
    export_sheet,
    import_sheet,
    response_id,
    responses,
)
from harness.jury.rejudge import rejudged_study
from harness.run.record import Recording
from harness.stats.agreement import icc
from harness.study.folder import Study

Row = dict[str, str]
JUDGES = ("judge-a", "judge-b", "judge-c")


def small(root: Path) -> Study:
    return Study(root / "cassettes" / "small")


def read(path: Path) -> list[Row]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))


def write(path: Path, rows: list[Row]) -> Path:
    """Write rows as a spreadsheet does."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes(text.getvalue().encode())
    return path


def sheet(study: Study, path: Path, fill: Callable[[int, Row], object]) -> Path:
    """Export a sheet, let a plain function fill in its rows, numbered from 0, and save it."""
    export_sheet(study, path)
    rows = read(path)
    for number, row in enumerate(rows):
        fill(number, row)
    return write(path, rows)


def scored(number: int, row: Row) -> None:
    """Score as somebody might."""
    row["far"], row["sas"] = f"{number * 7 % 11 / 10:g}", f"{number * 3 % 21 / 20:g}"


def jury_of(study: Study) -> dict[str, Any]:
    """Give the jury's scores by id, from results.json: turns by cell and number."""
    cells = json.loads(study.results.read_text())["cells"]
    turns = {
        (cell["cell"]["subject"], cell["cell"]["level"], turn["turn"]): turn
        for cell in cells
        for turn in cell["turns"]
    }
    return {
        one.id: turns[one.cell.cell.subject, one.cell.cell.level, one.turn.turn]
        for one in responses(study)
    }


def test_the_sheet_holds_every_response_once_and_blind(recorded: Path, tmp_path: Path) -> None:
    """A row a response with the words and nothing that tells subject, level or score."""
    study, path = small(recorded), tmp_path / "sheet.csv"
    assert export_sheet(study, path) == (30, 30)
    rows = read(path)
    assert list(rows[0]) == list(COLUMNS)
    assert len({row["id"] for row in rows}) == 30
    text = path.read_text()
    for told in ("subject-a", "subject-b", *JUDGES, "interviewer", "c0.5", "paper"):
        assert told not in text
    assert {row["concept"] for row in rows} == {"The Harm Principle"}
    assert {row["far"] + row["sas"] for row in rows} == {""}
    assert sorted(row["turn"] for row in rows) == sorted("12345" * 6)


def test_the_words_are_those_of_the_recording(recorded: Path, tmp_path: Path) -> None:
    """Question and answer stand as they were; turns 4 and 5 say which element is invented."""
    study, path = small(recorded), tmp_path / "sheet.csv"
    export_sheet(study, path)
    said = {one.id: one.shown for one in responses(study)}
    for row in read(path):
        concept, turn, question, answer, note = said[row["id"]]
        shown = tuple(row[name].removeprefix("'") for name in COLUMNS[1:6])
        assert shown == (concept, turn, question, answer, note)
        assert bool(note) == (turn in "45")
        if turn == "4":
            named = note.removeprefix("Note for the examiner: ").partition(" and the view")[0]
            assert len(named) > 10
            assert named in question
            assert "invented" in note


def test_the_order_is_the_seeds(recorded: Path, tmp_path: Path) -> None:
    """The same seed gives the same bytes, another one another order of the same rows."""
    study = small(recorded)
    paths = [tmp_path / f"{name}.csv" for name in "abcd"]
    for path, seed in zip(paths, (None, 7, 8, 8), strict=True):
        export_sheet(study, path, seed=seed)
    default, seven, eight, again = (path.read_bytes() for path in paths)
    assert default == seven
    assert eight == again != seven
    assert sorted(map(str, read(paths[1]))) == sorted(map(str, read(paths[2])))
    order = [row["id"] for row in read(paths[1])]
    assert order not in (sorted(order), [one.id for one in responses(study)])


def test_a_larger_sample_holds_the_smaller(recorded: Path, tmp_path: Path) -> None:
    """Whoever rates more later loses no work; more than there is is a mistake."""
    study = small(recorded)
    assert export_sheet(study, tmp_path / "few.csv", sample=8) == (8, 30)
    assert export_sheet(study, tmp_path / "more.csv", sample=20) == (20, 30)
    assert read(tmp_path / "few.csv") == read(tmp_path / "more.csv")[:8]
    with pytest.raises(UsageError, match="--sample 31: small has 30 recorded responses"):
        export_sheet(study, tmp_path / "all.csv", sample=31)
    assert not (tmp_path / "all.csv").exists()


def test_a_filled_sheet_is_never_overwritten(recorded: Path, tmp_path: Path) -> None:
    """An export onto a file that is there is refused, and the file stays."""
    path = tmp_path / "sheet.csv"
    path.write_text("hours of work")
    with pytest.raises(UsageError, match="exists already"):
        export_sheet(small(recorded), path)
    assert path.read_text() == "hours of work"


def test_an_id_is_of_the_words_and_the_place(recorded: Path) -> None:
    """No two responses share one; a dialogue with another word has others; none reads as number."""
    study = small(recorded)
    found = responses(study)
    assert all(one.id[0] == "r" and len(one.id) == 13 for one in found)
    from harness.run.replay import replay_cells

    transcript = replay_cells(study, cells=study.cells()[:1])[0].transcript
    assert transcript is not None
    before = [response_id(7, transcript, turn) for turn in (1, 2, 3, 4, 5)]
    assert set(before) <= {one.id for one in found}
    transcript.exchanges[4].answer += "."
    after = [response_id(7, transcript, turn) for turn in (1, 2, 3, 4, 5)]
    assert not {*before} & {*after}
    assert response_id(8, transcript, 1) != after[0]


def spoken(text: str) -> Callable[[Received], Answer]:
    """Play the provider with subjects that say one thing."""

    def reply(received: Received) -> Answer:
        if not received.json()["model"].startswith("subject"):
            return Provider()(received)
        return json_answer({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})

    return reply


@pytest.mark.parametrize(
    "text",
    [
        '=HYPERLINK("http://x.example","y")',
        "+1",
        "-2",
        "@SUM(A1)",
        "- a list\r- of, two\n",
        "\t=1",
        " \n =1",
    ],
)
def test_no_answer_runs_as_a_formula(tmp_path: Path, text: str) -> None:
    """A cell that a spreadsheet could run begins with an apostrophe; the rest stays, byte by byte.

    The ids are not touched by it, and the sheet can be imported.
    """
    folder = tmp_path / "cassettes" / "mine"
    folder.mkdir(parents=True)
    with Loopback(spoken(text)) as server:
        words = study_text(server.url, subjects=("subject-a",), levels="[0.5]")
        (folder / "study.toml").write_text(words)
        assert Recording(Study(folder)).run().problems == []
    path = sheet(Study(folder), tmp_path / "sheet.csv", scored)
    rows = read(path)
    assert {row["answer"] for row in rows} == {f"'{text}"}
    assert not [cell for row in rows for cell in row.values() if cell[:1] in "=+-@" and cell]
    assert import_sheet(Study(folder), path).rated == 5


def test_an_answer_of_nothing_is_shown_as_the_judges_saw_it(tmp_path: Path) -> None:
    """Where a study has empty answers judged, one is a response like any other: (no answer)."""
    folder = tmp_path / "cassettes" / "mine"
    folder.mkdir(parents=True)
    with Loopback(spoken("")) as server:
        extra = 'empty_answers = "judged"\n'
        words = study_text(server.url, subjects=("subject-a",), levels="[0.5]", extra=extra)
        (folder / "study.toml").write_text(words)
        Recording(Study(folder)).run()
    export_sheet(Study(folder), tmp_path / "sheet.csv")
    assert {row["answer"] for row in read(tmp_path / "sheet.csv")} == {"(no answer)"}


def test_whoever_scores_like_the_jury_agrees_with_it(recorded: Path, tmp_path: Path) -> None:
    """The consensus itself, filled in, has kappa 1, ICC 1 and no distance."""
    study = small(recorded)
    jury = jury_of(study)

    def copied(number: int, row: Row) -> None:
        row.update({scale: repr(jury[row["id"]][scale]) for scale in ("far", "sas")})

    found = import_sheet(study, sheet(study, tmp_path / "sheet.csv", copied))
    for part in found.comparisons:
        if part.rater == CONSENSUS:
            assert part.kappa.value == part.weighted.value == 1.0
            assert part.icc.value == pytest.approx(1.0, abs=1e-9)
            assert part.difference.value == pytest.approx(0.0, abs=1e-9)
            assert part.difference.n == 30
        else:
            assert (part.difference.value or 0.0) > 0.0


def bin_of(score: float) -> int:
    """Sort a score into the bands of the rubric, by their midpoints."""
    return sum(score >= edge for edge in (0.35, 0.55, 0.75, 0.95))


def check(part: RaterComparison, human: list[float], rater: list[float]) -> None:
    """Compare with scikit-learn's kappa and with ICC and distance computed here."""
    bins = [bin_of(score) for score in human], [bin_of(round(score, 9)) for score in rater]
    labels = list(range(5))
    n = len(human)
    assert (part.kappa.n, part.weighted.n, part.icc.n, part.difference.n) == (n, n, n, n)
    plain = cohen_kappa_score(*bins, labels=labels)
    linear = cohen_kappa_score(*bins, labels=labels, weights="linear")
    assert part.kappa.value == pytest.approx(plain, abs=1e-12)
    assert part.weighted.value == pytest.approx(linear, abs=1e-12)
    pairs = list(zip(human, rater, strict=True))
    assert part.icc.value == pytest.approx(icc(pairs)["ICC(A,1)"].value)
    away = [abs(a - b) for a, b in pairs]
    assert part.difference.value == pytest.approx(sum(away) / n)


def test_the_numbers_are_those_of_other_libraries(recorded: Path, tmp_path: Path) -> None:
    """Consensus and every judge, FAR and SAS: kappa, weighted kappa, ICC(A,1), mean distance."""
    study, jury = small(recorded), jury_of(small(recorded))
    path = sheet(study, tmp_path / "sheet.csv", scored)
    found, rows = import_sheet(study, path), read(path)
    assert (found.rated, found.empty, found.bins) == (30, 0, "rubric")
    assert found.edges == [0.35, 0.55, 0.75, 0.95]
    raters = [(part.scale, part.rater) for part in found.comparisons]
    assert raters == [(s, r) for s in ("far", "sas") for r in (CONSENSUS, *JUDGES)]
    for part in found.comparisons:
        turns = [jury[row["id"]] for row in rows]
        if part.rater == CONSENSUS:
            theirs = [turn[part.scale] for turn in turns]
        else:
            theirs = [turn["scores"][part.rater][part.scale] for turn in turns]
        check(part, [float(row[part.scale]) for row in rows], theirs)


def test_a_judge_without_a_score_leaves_n_smaller(tmp_path: Path) -> None:
    """A missing judgement is no zero: n falls for that judge alone, consensus is over the rest."""
    folder = tmp_path / "cassettes" / "mine"
    folder.mkdir(parents=True)

    def reply(received: Received) -> Answer:
        if received.json()["model"] != "judge-b":
            return Provider()(received)
        return json_answer({"choices": [{"message": {"content": "no"}, "finish_reason": "stop"}]})

    with Loopback(reply) as server:
        extra = "missing_limit = 1.0\n"
        words = study_text(server.url, subjects=("subject-a",), levels="[0.5]", extra=extra)
        (folder / "study.toml").write_text(words)
        Recording(Study(folder)).run()
    found = import_sheet(Study(folder), sheet(Study(folder), tmp_path / "sheet.csv", scored))
    n = {part.rater: part.difference.n for part in found.comparisons}
    assert n == {CONSENSUS: 5, "judge-a": 5, "judge-b": 0, "judge-c": 5}
    silent = next(part for part in found.comparisons if part.rater == "judge-b")
    for value in silent[2:]:
        assert value.value is None
        assert value.reason


def test_rows_left_empty_are_skipped_and_counted(recorded: Path, tmp_path: Path) -> None:
    """A row may have one score or none; blank lines at the end are no rows."""
    study = small(recorded)

    def some(number: int, row: Row) -> None:
        row["far"] = "0.5" if number < 10 else " "
        row["sas"] = "0.9" if number < 4 else ""

    path = sheet(study, tmp_path / "sheet.csv", some)
    path.write_bytes(path.read_bytes() + b",,,,,,,\r\n\r\n")
    found = import_sheet(study, path)
    assert (found.rated, found.empty) == (10, 20)
    n = {part.scale: part.difference.n for part in found.comparisons if part.rater == CONSENSUS}
    assert n == {"far": 10, "sas": 4}


def test_what_spreadsheets_do_to_a_sheet_does_no_harm(recorded: Path, tmp_path: Path) -> None:
    """A byte order mark, other line ends, an apostrophe before a number, a column of remarks."""
    study = small(recorded)

    def remarked(number: int, row: Row) -> None:
        scored(number, row)
        row["far"] = f"'{row['far']} "
        row["remarks"] = "hm, well"

    def plain(number: int, row: Row) -> None:
        scored(number, row)

    odd = sheet(study, tmp_path / "odd.csv", lambda number, row: None)
    rows = [row | {"remarks": ""} for row in read(odd)]
    for number, row in enumerate(rows):
        remarked(number, row)
    write(odd, rows)
    odd.write_bytes(b"\xef\xbb\xbf" + odd.read_bytes().replace(b"\r\n", b"\n"))
    even = sheet(study, tmp_path / "even.csv", plain)
    assert import_sheet(study, odd) == import_sheet(study, even)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("id", "r000000000000", "the id 'r000000000000' is none of this study's responses"),
        ("id", "", "the id '' is none"),
        ("far", "1.01", r"far is '1.01'; expected a number from 0 to 1"),
        ("sas", "-0.1", r"sas is '-0.1'; expected a number from 0 to 1"),
        ("sas", "0,5", r"sas is '0,5'; expected"),
        ("far", "good", r"far is 'good'; expected"),
        ("far", "nan", r"far is 'nan'; expected"),
        ("far", "inf", r"far is 'inf'; expected"),
        ("far", "0_1", r"far is '0_1'; expected"),
        ("far", "٠.٥", r"far is '٠.٥'; expected"),
    ],
)
def test_a_mistake_is_told_with_its_row(
    recorded: Path, tmp_path: Path, field: str, value: str, told: str
) -> None:
    """The row is that of a spreadsheet, where the header is row 1; nothing is computed."""
    study = small(recorded)

    def wrong(number: int, row: Row) -> None:
        scored(number, row)
        if number == 3:
            row[field] = value

    path = sheet(study, tmp_path / "sheet.csv", wrong)
    with pytest.raises(UsageError, match=rf"sheet\.csv, row 5: {told}"):
        import_sheet(study, path)


def test_an_id_that_stands_twice_is_told_with_both_rows(recorded: Path, tmp_path: Path) -> None:
    """Even a row without a score may not repeat an id."""
    study = small(recorded)
    path = sheet(study, tmp_path / "sheet.csv", scored)
    rows = read(path)
    write(path, [*rows, rows[4] | {"far": "", "sas": ""}])
    with pytest.raises(UsageError, match=r"row 32: the id 'r\w+' stands in row 6 already"):
        import_sheet(study, path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: data.replace(b",far,", b",FAR,"), r"row 1: expected one column 'far', got 0"),
        (lambda data: data.replace(b"note", b"far"), r"row 1: expected one column 'far', got 2"),
        (lambda data: data.replace(b",", b";"), r"row 1: expected one column 'id', got 0.*commas"),
        (lambda data: data + b"r1,a,b\r\n", r"row 32: has 3 cells, the header has 8"),
        (lambda data: b"", r"row 1: expected one column 'id'"),
        (lambda data: data + b"\xff", "cannot be read as UTF-8 CSV"),
        (lambda data: data + b'"open', "cannot be read as UTF-8 CSV"),
    ],
)
def test_a_sheet_of_another_form_is_told(
    recorded: Path, tmp_path: Path, change: Callable[[bytes], bytes], told: str
) -> None:
    """Columns, separators, encoding: what is wrong is said, and what is expected."""
    study = small(recorded)
    path = sheet(study, tmp_path / "sheet.csv", scored)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(UsageError, match=told):
        import_sheet(study, path)


def test_a_sheet_without_scores_is_a_mistake(recorded: Path, tmp_path: Path) -> None:
    """The sheet as it was exported compares nothing."""
    export_sheet(small(recorded), tmp_path / "sheet.csv")
    with pytest.raises(UsageError, match="no row has a score"):
        import_sheet(small(recorded), tmp_path / "sheet.csv")


def test_an_unfinished_study_gives_its_finished_cells(recorded: Path, tmp_path: Path) -> None:
    """A pilot can be calibrated: the ids stay when more cells are recorded."""
    study = small(recorded)
    whole = {one.id for one in responses(study)}
    cells = study.cells()
    unpublish(study)
    study.cassette(cells[0]).unlink()
    path = sheet(study, tmp_path / "sheet.csv", scored)
    assert {row["id"] for row in read(path)} < whole
    assert import_sheet(study, path).rated == 25
    for cell in cells[1:]:
        study.cassette(cell).unlink()
    with pytest.raises(UsageError, match="no cell is finished"):
        export_sheet(study, tmp_path / "none.csv")


def test_a_cell_that_does_not_replay_stops_it(recorded: Path, tmp_path: Path) -> None:
    """Materials that the recording was not made with give no sheet."""
    study = small(recorded)
    text = study.materials.read_text()
    unpublish(study)
    study.materials.write_text(text.replace("The Harm Principle", "The Harm Rule"))
    with pytest.raises(CheckFailed, match="changed since it was recorded"):
        export_sheet(study, tmp_path / "sheet.csv")


def test_a_sheet_fits_the_same_answers_under_another_jury(recorded: Path, tmp_path: Path) -> None:
    """The work of the raters serves a rejudged study too."""
    study = small(recorded)
    path = sheet(study, tmp_path / "sheet.csv", scored)
    more = tmp_path / "more.toml"
    with Loopback(Provider()) as server:
        more.write_text(f'[models.judge-x]\nbase_url = "{server.url}/v1"\nmodel = "judge-x"\n')
        again = rejudged_study(study, ["judge-x"], "again", more)
        assert Recording(again).run().problems == []
    found = import_sheet(again, path)
    assert found.rated == 30
    assert {part.rater for part in found.comparisons} == {CONSENSUS, "judge-x"}


def test_the_commands_go_round(recorded: Path, tmp_path: Path) -> None:
    """Export says what to do next, import prints a line a rater and scale, with the bins' name."""
    path, root = tmp_path / "sheet.csv", ["--root", str(recorded)]
    words = ["calibrate", "small", "export", "-o", str(path), "--sample", "12", "--seed", "3"]
    done = CliRunner().invoke(main, [*words, *root])
    assert done.exit_code == 0, done.output
    assert "12 of 30 responses" in done.output
    rows = read(path)
    for number, row in enumerate(rows[:-2]):
        scored(number, row)
    write(path, rows)
    done = CliRunner().invoke(main, ["calibrate", "small", "import", str(path), *root])
    assert done.exit_code == 0, done.output
    assert "10 responses scored, 2 rows left empty" in done.output
    assert "'rubric', cut at 0.35, 0.55, 0.75, 0.95; weights: linear" in done.output
    lines = [line.split() for line in done.output.splitlines()]
    assert len([line for line in lines if line[0] in ("FAR", "SAS")]) == 8


@pytest.mark.parametrize(
    "words",
    [
        ["calibrate", "small", "export", "-o", "{there}"],
        ["calibrate", "nowhere", "export", "-o", "{new}"],
        ["calibrate", "small", "import", "{there}"],
        ["calibrate", "small", "import", "{new}"],
        ["calibrate", "small", "export", "-o", "{new}", "--sample", "0"],
        ["calibrate", "small", "export", "-o", "{new}/deep/sheet.csv"],
        ["calibrate", "small", "export"],
    ],
)
def test_a_mistake_of_the_command_line_is_exit_2(
    recorded: Path, tmp_path: Path, words: list[str]
) -> None:
    """No traceback, and no file is made."""
    there, new = tmp_path / "there.csv", tmp_path / "new.csv"
    there.write_text("not,a\nsheet,x\n")
    named = [word.format(there=there, new=new) for word in words]
    done = CliRunner().invoke(main, [*named, "--root", str(recorded)])
    assert done.exit_code == 2, done.output
    assert not new.exists()
    assert there.read_text() == "not,a\nsheet,x\n"
