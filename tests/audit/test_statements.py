"""Labels, directions, and figures that are printed twice."""

import pytest
from audit.claim_text import finding, verdict

RULE = {"above": {"Robust": "0.60", "Competent": "0.30"}, "otherwise": "Brittle"}


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        ("0.914", {"Robust"}),
        ("0.534", {"Competent"}),
        ("0.10", {"Brittle"}),
        ("0.60", {"Robust", "Competent"}),
        ("0.6000000", {"Robust", "Competent"}),
        ("0.599", {"Competent"}),
    ],
)
def test_a_label_follows_from_the_rule(value: str, labels: set[str]) -> None:
    """Over the rounding of the value: at a threshold either label may be meant."""
    for label in ("Robust", "Competent", "Brittle"):
        allowed = "reproduced" if len(labels) == 1 else "possible"
        expected = allowed if label in labels else "contradicted"
        assert verdict("label_rule", label, value=value, **RULE) == expected


def test_without_a_rule_no_label_is_checkable() -> None:
    """And the reason says so."""
    found = finding("label_rule", "Robust", value="0.459")
    assert (found.verdict, found.why) == ("not checkable", "no rule for the labels is stated")


@pytest.mark.parametrize("higher_x", ["more", "less"])
@pytest.mark.parametrize("higher_y", ["more", "less"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_a_direction_is_sign_and_meaning(sign: str, higher_x: str, higher_y: str) -> None:
    """Each turned variable turns the direction; the sentence is right one way only."""
    turns = [sign == "-", higher_x == "less", higher_y == "less"]
    right, wrong = ("positive", "negative") if sum(turns) % 2 == 0 else ("negative", "positive")
    keys = {
        "coefficient": f"{sign}0.817", "x": "care", "y": "rest",
        "higher_x": higher_x, "higher_y": higher_y,
    }  # fmt: skip
    assert verdict("direction", "goes with", reads_as=right, **keys) == "reproduced"
    assert verdict("direction", "goes with", reads_as=wrong, **keys) == "contradicted"


def test_a_direction_says_what_goes_with_what() -> None:
    """In the words of the sentence; a coefficient that may be 0 has none."""
    keys = {"reads_as": "positive", "x": "care", "y": "rest"}
    found = finding("direction", "care predicts rest", coefficient="-0.817", **keys)
    assert found.published == "care predicts rest"
    assert found.why == "read as positive; -0.817 says: the more care, the less rest"
    assert verdict("direction", "care predicts rest", coefficient="0.0", **keys) == "not checkable"


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("0.48", "0.483", True),
        ("0.483", "0.48", True),
        ("-0.483", "0.53", False),
        ("174", "175", False),
        ("175", "175", True),
        ("175", "175.0", True),
        ("0.5", "0.55", True),
        ("80-90", "92-100", False),
        ("Robust", "robust", True),
        ("< 0.01", "0.007", True),
        ("0.012", "< 0.01", False),
    ],
)
def test_the_coarser_figure_may_be_the_finer_rounded(one: str, other: str, agree: bool) -> None:
    """Nothing else agrees; texts agree by their letters."""
    expected = "possible" if agree else "contradicted"
    assert verdict("restated", one, elsewhere={"p. 2": other}) == expected


def test_one_disagreement_of_several_is_named() -> None:
    """With its place."""
    found = finding("restated", "25", elsewhere={"p. 2": "25", "p. 3": "14"})
    assert (found.verdict, found.why) == ("contradicted", "25 here, 14 (p. 3)")


def test_another_document_does_not_contradict() -> None:
    """It differs, and the row names it; where it agrees nothing was recomputed."""
    keys = {"elsewhere": {"p. 2": "14"}, "other_source": "a later table"}
    differs = finding("restated", "25", **keys)
    assert differs.verdict == "other source differs"
    assert differs.why == "differs from a later table; 25 here, 14 (p. 2)"
    assert verdict("restated", "14", **keys) == "possible"


def test_an_assumption_never_contradicts() -> None:
    """What rests on something unstated is reproduced* or not checkable, and says on what."""
    keys = {"elsewhere": {"p. 2": "18"}, "assuming": "both are shares of sessions"}
    wrong = finding("restated", "100", **keys)
    assert wrong.verdict == "not checkable"
    assert "if both are shares of sessions; that is not stated" in wrong.why
    right = finding("restated", "18", **keys)
    assert (right.verdict, "only if both are" in right.why) == ("reproduced*", True)
