"""A dialogue's words by the names of its calls, and its scores, to be compared with another's."""

from __future__ import annotations

from harness.protocols.ddft.metrics.formulas import mean
from harness.results import Results, Transcript, name_part

TRAP_TURN = 4


def words(said: Transcript) -> dict[str, str]:
    """Return everything that was said in a dialogue, in its order."""
    found = {"context": said.context, "trap": " ".join(said.trap.values())}
    for exchange in said.exchanges:
        turn = f"turn-{exchange.turn}"
        found[f"{turn}/question"] = exchange.question
        found[f"{turn}/subject"] = exchange.answer
        found |= {
            f"{turn}/judge/{name_part(name)}": reply for name, reply in exchange.replies.items()
        }
    return found


def cell_scores(found: Results) -> dict[str, dict[str, float | None]]:
    """Return each cell's scores by its name: means over its turns, and the trap's own."""
    scores: dict[str, dict[str, float | None]] = {}
    for cell in found.cells:
        far = {turn.turn: turn.far for turn in cell.turns}
        sas = {turn.turn: turn.sas for turn in cell.turns}
        scores[cell.cell.name] = {
            "FAR": mean([score for score in far.values() if score is not None]),
            "SAS": mean([score for score in sas.values() if score is not None]),
            "FAR of turn 4": far.get(TRAP_TURN),
        }
    return scores
