"""The {names} that each prompt of a dialogue is filled with; a prompt not here is sent as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

QUESTIONS = ("concept", "expert", "claim", "tone", "example")
TURNS = range(1, 6)
JUDGED = ("concept", "expert", "claim")
VERDICT = (*JUDGED, "text", "question", "answer")

PLACEHOLDERS: Mapping[str, Sequence[str]] = {
    "subject_context": (*QUESTIONS, "context", "question"),
    "interviewer_system": QUESTIONS,
    "interviewer_trap_system": QUESTIONS,
    "interviewer_dialogue": (*QUESTIONS, "dialogue", "task"),
    **{f"interviewer_turn_{turn}": (*QUESTIONS, "said_example") for turn in TURNS},
    "interviewer_invents": (*QUESTIONS, "said_example"),
    "interviewer_again": (*QUESTIONS, "problem"),
    **{f"scripted_turn_{turn}": QUESTIONS for turn in TURNS},
    "judge_turn": (
        *JUDGED,
        *("turn", "percent", "reference", "earlier", "fabrication", "question", "answer"),
    ),
    "judge_reference": (*JUDGED, "text"),
    "judge_earlier": (*JUDGED, "dialogue"),
    "judge_fabrication": JUDGED,
    "judge_again": ("problem",),
    "verdict_sentence": (*VERDICT, "sentence"),
    "verdict_sentence_alone": (*VERDICT, "sentence"),
    "verdict_stance": VERDICT,
    "verdict_clear": VERDICT,
    "verdict_topic": VERDICT,
    "verdict_again": ("first", "second"),
}
