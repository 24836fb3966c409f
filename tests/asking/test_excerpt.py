"""The paragraphs of a page that become a passage."""

from __future__ import annotations

from harness.asking.sources.excerpt import excerpt

PAGE = """The heart is a pump of muscle.
It has four chambers.

== Disease ==
Heart failure is common among the old.

=== Drugs ===
Beta blockers slow the rate and lower mortality.
Diuretics remove water.

== Notes ==
=== On beta blockers ===
Beta blockers, heart failure: see the book.

== History ==
Harvey described the circulation in 1628.
"""


def test_the_paragraphs_with_most_words_in_common() -> None:
    """They stand in the order of the page, whichever fits better; headings count as words."""
    assert excerpt(PAGE, "beta blockers in heart failure") == (
        "The heart is a pump of muscle.\n\n"
        "Heart failure is common among the old.\n\n"
        "Beta blockers slow the rate and lower mortality."
    )
    assert excerpt(PAGE, "Harvey") == "Harvey described the circulation in 1628."
    assert excerpt(PAGE, "history").startswith("Harvey")


def test_appendices_are_no_part_of_a_page() -> None:
    """Nor is what stands in their own sections; the section after them is again."""
    assert "see the book" not in excerpt(PAGE, "beta blockers book")


def test_no_word_in_common_gives_the_first_paragraphs() -> None:
    """What the page begins with is then what it is about."""
    assert excerpt(PAGE, "photosynthesis", 60) == (
        "The heart is a pump of muscle.\n\nIt has four chambers."
    )


def test_the_length_is_bounded() -> None:
    """The best come first, whole, and what does not fit is left out."""
    pages = "\n".join(f"Heart number {n}, {'beat ' * 20}." for n in range(100))
    for longest in (100, 300, 1500):
        found = excerpt(pages, "heart number 57", longest)
        assert len(found) <= longest
        assert "number 57," in found or longest < 120
    assert len(excerpt(pages, "heart", 1500)) > 1300


def test_a_long_paragraph_is_cut_at_a_sentence() -> None:
    """After the last sentence that fits, or at a word where no sentence does."""
    sentence = 'The heart (a "pump.") beats.'
    assert excerpt(f"{sentence} {sentence} {'heart ' * 400}", "heart", 70) == (
        f"{sentence} {sentence}"
    )
    assert excerpt("heart " * 400, "heart", 20) == "heart heart heart"
    assert excerpt("heart" * 400, "heart", 20) == "heart" * 4


def test_an_empty_page() -> None:
    """No text is no passage."""
    assert excerpt("", "heart") == excerpt("\n\n== Notes ==\nheart\n", "heart") == ""


def test_it_is_the_same_each_time() -> None:
    """Paragraphs of the same worth are taken from the beginning on."""
    page = "\n".join(f"Heart {n}." for n in range(10))
    assert excerpt(page, "heart", 30) == "Heart 0.\n\nHeart 1.\n\nHeart 2."
