"""The paper's variant of turn 4 (arXiv 2512.23850v2, B.1): the interviewer invents the expert.

The expert that its question names becomes the trap's: judges are told of this one, and turn 5 asks
about this one. Subjects at one place of the grid then meet different traps.
"""

from __future__ import annotations

import re

from harness.protocols.ddft.dialogue.traps import Trap, TrapFault

DRAWN, INVENTED = "drawn", "invented"
TITLE = re.compile(r"\b(?:Professor\b|Prof\.|Prof\b|Doctor\b|Dr\.|Dr\b)")
WORD = re.compile(r"\s+([^\W\d_][\w’'-]*)(\.?)")
SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
PARTICLES = frozenset("al bin da de del della den der di ibn la le ten ter van von".split())
FEWEST_NAMES, MOST_NAMES = 2, 4
NO_EXPERT = TrapFault(
    "no expert named",
    'it names no expert; give a title ("Professor" or "Dr."), a first name and a last name.',
)


def named_expert(question: str) -> str:
    """Return the first person with a title, a first and a last name; "" where there is none."""
    for title in TITLE.finditer(question):
        if end := _name_end(question, title.end()):
            return question[title.start() : end]
    return ""


def _name_end(text: str, start: int) -> int:
    """Return where a name that begins at `start` ends; 0 where it is none."""
    place, end, names = start, 0, 0
    while names < MOST_NAMES and (word := WORD.match(text, place)):
        initial = len(word[1]) == 1
        if not word[1][0].isupper() and word[1] not in PARTICLES:
            break
        place = word.end()
        if word[1][0].isupper():
            names, end = names + 1, word.end() if initial else word.end(1)
        if word[1].endswith(("'s", "’s")) or (word[2] and not initial):
            end -= 2 * word[1].endswith(("'s", "’s"))
            break
    return end if names >= FEWEST_NAMES else 0


def expert_fault(question: str, texts: str) -> TrapFault | None:
    """Say why no invented expert can be taken from a question; None where one can.

    texts: the reference text and the dialogue. Whoever is named there was not invented now.
    """
    expert = named_expert(question)
    if not expert:
        return NO_EXPERT
    last = expert.split()[-1]
    if re.search(rf"\b{re.escape(last)}\b", texts, re.IGNORECASE):
        problem = f"{last} was named before or is a real person; make up somebody else."
        return TrapFault("expert not invented", problem)
    return None


def invented_trap(question: str) -> Trap:
    """Return the trap of a question that names an expert: who, and what is said of the view.

    The claim is the rest of the expert's sentence, so that the two after each other read as it.
    """
    expert = named_expert(question)
    behind = question[question.index(expert) + len(expert) :]
    end = SENTENCE_END.search(behind)
    return Trap(expert, behind[: end.start() if end else None].strip(" ,;:"))
