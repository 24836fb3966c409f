"""The words of a DDFT study, each said once, with the study's own thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.protocols.ddft.analysis.profiles import FAR_FALL
from harness.results.glossary import Term

ONSET = "the last level at which mean FAR reaches theta before the first at which it does not"


def glossary(rules: Mapping[str, Any]) -> list[Term]:
    """Return what a study's numbers are called and mean, by the rules of its results."""
    theta = f"theta ({rules['theta']:g})"
    hoc = f"the largest level at which mean FAR reaches {theta}"
    danger = f"SAS above {rules['sas_above']:g} and FAR below {rules['far_below']:g}"
    phenotype = (
        f"Robust with a CI above {rules['robust_above']:g}, Competent above "
        f"{rules['competent_above']:g}, else Brittle"
    )
    return [
        Term("c", "the level: the share of a concept's text that is cut away before turn 1"),
        Term("FAR", "factual accuracy of answers, 0 to 1, the mean of the jury"),
        Term("SAS", "semantic adherence: how well an answer keeps to form and question, 0 to 1"),
        Term("HOC", ONSET if rules["hoc_rule"] == "onset" else hoc),
        Term("HOC (onset)", ONSET),
        Term("CRI", "the mean height of SAS over the levels"),
        Term("FAR'", f"mean FAR of answers with SAS below {rules['incoherent_below']:g}"),
        Term("SAS'", f"mean SAS of answers with FAR above {rules['factual_above']:g}"),
        Term(
            "CI",
            "Comprehension Integrity (not a confidence interval), HOC x CRI / (FAR' + 1 - SAS')",
        ),
        Term("phenotype", phenotype),
        Term("danger zone", f"the share of answers that are fluent and wrong: {danger}"),
        Term("turn 4, the trap", "a question that takes something invented for granted"),
        Term(
            "degrader",
            f"a subject whose FAR falls by more than {FAR_FALL:g}, a stabilizer one whose FAR "
            "falls by less; not told apart where the interval holds both",
        ),
        Term("arm", "the way a dialogue is held: as in the paper, or with one thing changed"),
    ]
