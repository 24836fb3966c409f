"""What a study does not prove, with its own numbers."""

from __future__ import annotations

from collections.abc import Sequence

from harness.page.replayed_study import DAY, AnyStudy
from harness.results.digits import plural

NOBODY = "No person has checked these verdicts: there is no human validation in a recording."


def limits(study: AnyStudy, of_protocol: Sequence[str]) -> list[str]:
    """Return the sentences of the box; of_protocol: what the protocol has to say."""
    results = study.results
    dates = (
        f"Everything holds for these models as they were served then ({study.period(DAY)}); a "
        "model of the same name may answer otherwise today."
    )
    unfinished = len(study.cells) - len(study.recorded)
    unfit = results.jury.words if results.jury else ""
    sentences = [*results.notices, dates, *of_protocol, NOBODY, study.verdict.limits]
    if unfit:
        sentences.insert(0, f"The jury, by its gold set and its habits: {unfit}.")
    if unfinished:
        count = plural(unfinished, "cell")
        sentences.insert(0, f"{count} of {len(study.cells)} are not recorded.")
    if not results.valid:
        reason = (results.invalid_reason or "").partition("\n")[0]
        sentences.insert(0, f"The study is invalid, and nothing in it has a rank: {reason}")
    return sentences
