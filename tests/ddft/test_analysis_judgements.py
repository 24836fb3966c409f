"""The turn-level data: one row a judgement."""

import random

import synthetic

from harness.protocols.ddft.metrics.judgements import HEADER, rows


def test_one_row_a_judgement() -> None:
    """Every judge of every turn of every arm has a row, missing scores too."""
    made = synthetic.study(2, 2, arms=("paper", "hedged"), missing=0.3)
    found = list(rows(made.cells, made.domains))
    assert len(found) == 2 * 2 * 5 * 2 * 5 * 3
    assert all(len(row) == len(HEADER) == 17 for row in found)
    assert {row.state for row in found if row.far is None} == {"prose"}
    assert {row.arm for row in found} == {"paper", "hedged"}
    assert {(row.concept, row.domain) for row in found} == set(made.domains.items())


def test_a_row_holds_what_the_cell_holds() -> None:
    """Place, scores, states and consensus are the cell's."""
    made = synthetic.study(1, 1, levels=(0.25,))
    turn = made.cells[0].turns[3]
    row = next(row for row in rows(made.cells) if (row.turn, row.judge) == (4, "judge-1"))
    score = turn.scores["judge-1"]
    assert row[:8] == ("subject-0", "concept-0", None, 0.25, "paper", 1, 4, "judge-1")
    assert row[8:] == (
        *(score.far, score.sas, "ok", 1, "interviewer", "ok"),
        *(3, turn.far, turn.sas),
    )


def test_rows_are_sorted_whatever_the_order_of_the_cells() -> None:
    """Shuffled cells give the same rows."""
    made = synthetic.study(2, 2)
    shuffled = random.Random(1).sample(made.cells, len(made.cells))
    assert list(rows(shuffled, made.domains)) == list(rows(made.cells, made.domains))
