"""Counts, shares, parts and expressions: against enumeration and statsmodels."""

import pytest
from audit.claim_text import finding, verdict
from pydantic import ValidationError
from statsmodels.stats.proportion import proportion_confint


@pytest.mark.parametrize("n", [7, 24, 200])
def test_granularity_is_what_counts_can_give(n: int) -> None:
    """Every percentage with one decimal, against all counts out of n."""
    possible = {round(1000 * k / n) for k in range(n + 1)}
    halves = {1000 * k / n for k in range(n + 1) if (1000 * k / n) % 1 == 0.5}
    for tenths in range(0, 1001, 7):
        expected = tenths in possible or {tenths - 0.5, tenths + 0.5} & halves
        found = verdict("granularity", f"{tenths / 10:.1f}", n=n, percent=True, samples=1)
        assert (found == "possible") == bool(expected), tenths


def test_a_mean_of_whole_numbers_has_steps_too() -> None:
    """GRIM: 5.19 of 28 cannot be, 5.18 can; the neighbours are named."""
    assert verdict("granularity", "5.18", n=28, samples=1) == "possible"
    assert verdict("granularity", "5.17", n=28, samples=1) == "reproduced*"
    found = finding("granularity", "5.19", n=28, samples=1)
    assert found.verdict == "contradicted"
    assert found.recomputed == "145 of 28 is 5.179; 146 of 28 is 5.214"


def test_a_percentage_is_of_no_more_than_all() -> None:
    """101% is no count out of 100."""
    assert verdict("granularity", "101", n=100, percent=True) == "contradicted"


def test_a_mean_is_over_the_rounding_of_its_parts() -> None:
    """14.0, 17.0, 10.0 have mean 13.67, or as parts of 13.95 to 14.05 and so on, 13.62 to 13.72."""
    parts = ["14.0", "17.0", "10.0"]
    assert verdict("mean_of", "13.7", parts=parts) == "reproduced"
    assert verdict("mean_of", "13.8", parts=parts, weights="equal") == "contradicted"
    assert verdict("mean_of", "13.8", parts=parts) == "not checkable"
    assert verdict("mean_of", "17.2", parts=parts) == "contradicted"
    assert verdict("mean_of", "13.6", parts=parts) == "possible"
    share = {"shares_of": 200, "weights": "equal"}
    assert verdict("mean_of", "13.6", parts=parts, **share) == "reproduced*"
    assert verdict("mean_of", "13.5", parts=parts, **share) == "contradicted"
    assert finding("mean_of", "13.7", parts=parts).recomputed == "13.67"


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("Wilson", "wilson"),
        ("Wald", "normal"),
        ("Clopper-Pearson", "beta"),
        ("Agresti-Coull", "agresti_coull"),
        ("Jeffreys", "jeffreys"),
    ],
)
def test_intervals_are_those_of_statsmodels(method: str, name: str) -> None:
    """Both ends, plainly where the method is stated."""
    low, high = proportion_confint(7, 30, method=name)
    ends = [f"{low:.4f}", f"{high:.4f}"]
    assert verdict("interval", ends, k=7, n=30, method=method) == "reproduced"
    assert verdict("interval", ends, k=7, n=30) == "reproduced*"
    assert verdict("interval", [ends[0], "0.9999"], k=7, n=30) == "contradicted"
    other = proportion_confint(7, 30, method="beta" if name == "wilson" else "wilson")
    assert verdict("interval", [ends[0], f"{other[1]:.4f}"], k=7, n=30) == "contradicted"
    percent = [f"{100 * low:.1f}", f"{100 * high:.1f}"]
    assert verdict("interval", percent, k=7, n=30, method=method, percent=True) == "reproduced"


def test_a_half_width_names_the_n_it_needs() -> None:
    """15 of 30 has 16.8 points by Wilson; 12 points need n = 63."""
    found = finding("interval", "12", k=15, n=30, percent=True)
    assert (found.verdict, found.recomputed) == ("contradicted", "16.85")
    assert "12 needs n = 63 (Wilson)" in found.why
    assert "17.89 with Wald, 18.7 with Clopper-Pearson" in found.why
    assert verdict("interval", "17", k=15, n=30, percent=True) == "reproduced*"
    low, high = proportion_confint(31.5, 63, method="wilson")
    assert (
        (high - low) / 2
        <= 0.12
        < (lambda a, b: (b - a) / 2)(*proportion_confint(31, 62, method="wilson"))
    )


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("9 * 8 * 5 * 5", "1800"),
        ("(1 + 2) / 4", "0.75"),
        ("-3 - -0.5", "-2.5"),
        ("0.1 + 0.2", "0.3"),
    ],
)
def test_expressions_are_exact(expression: str, value: str) -> None:
    """Fractions, no floats."""
    assert verdict("arithmetic", value, expression=expression) == "reproduced"
    assert finding("arithmetic", value, expression=expression).recomputed == value


@pytest.mark.parametrize(
    "text",
    ["5 / 0", "9 ** 9", "n * 2", "f(3)", "1 +", "'a' * 3", "1e999", "1e308*1e308", "9e99 * 99"],
)
def test_nothing_but_arithmetic_is_computed(text: str) -> None:
    """Names, calls, powers and texts are refused when the file is read."""
    with pytest.raises(
        ValidationError, match=r"cannot be computed|is not of numbers|not among the inputs"
    ):
        finding("arithmetic", "1", expression=text)


def test_a_figure_printed_in_thousands_is_shown_in_whole_numbers() -> None:
    """1e5 stands for 50000 to 150000, and nothing after the point is shown."""
    found = finding("arithmetic", "1e5", expression="99999.5 + 20000")
    assert (found.verdict, found.recomputed) == ("reproduced", "120000")
