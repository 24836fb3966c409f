"""Sentences: where a text is cut, and where a full stop ends nothing."""

from __future__ import annotations

import pytest

from harness.asking.sentences import sentences


@pytest.mark.parametrize(
    "whole",
    [
        "Mathews v. Eldridge (1976) weighs three things.",
        "Mr. Jones met Dr. Ray at St. Mary's.",
        "J. S. Mill wrote it (1859).",
        "See No. 5 of vol. 12, by Hill et al. Nature took it.",
        "The U.S. Supreme Court refused it.",
        "It weighs 1.5 kg. and no more.",
        "Roe vs. Wade was decided in 1973.",
    ],
)
def test_an_abbreviation_ends_no_sentence(whole: str) -> None:
    """The stop after v., Mr., a letter or a number's word is inside a sentence."""
    assert sentences(f"It began. {whole} It ended!") == ["It began.", whole, "It ended!"]


def test_a_word_that_needs_a_number_is_a_word_without_one() -> None:
    """No. 5 is one thing, "the answer is no" ends."""
    assert sentences("The answer is no. Nothing else is. See fig. 3 of it.") == [
        "The answer is no.",
        "Nothing else is.",
        "See fig. 3 of it.",
    ]


def test_quotes_and_other_scripts_end_sentences_too() -> None:
    """A closing quote belongs to the sentence before it; Chinese has no spaces after its stops."""
    assert sentences('He said "Stop." Then he left.') == ['He said "Stop."', "Then he left."]
    assert sentences("\u8fd9\u662f\u4e66\u3002\u4e0b\u4e00\u53e5\u3002") == [
        "\u8fd9\u662f\u4e66\u3002",
        "\u4e0b\u4e00\u53e5\u3002",
    ]
    assert sentences("") == []
