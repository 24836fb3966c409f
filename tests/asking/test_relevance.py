"""The guard that keeps passages about something else from becoming questions."""

from __future__ import annotations

import pytest

from harness.asking.relevance import content_words, relevant
from harness.corpus.entries import read_corpus
from harness.results import Passage

# direction, a title, a text: each is a real hit, though in other words or other forms.
HITS = [
    ("Heart attack", "Myocardial infarction", "A myocardial infarction, or heart attack, ..."),
    ("kidney stones", "Kidney stone disease", "A crystal that forms in the kidney."),
    ("beta-blocker therapies", "Beta blocker", "Medicines for the therapy of arrhythmia."),
    ("Caesar’s assassination", "Assassination of Julius Caesar", "On the Ides of March ..."),
    ("Augustan reforms", "Augustus", "His reform of the state ..."),
    ("constitutional interpretation", "Originalism", "To interpret the constitution ..."),
    ("role of BRCA1 in homologous recombination repair", "BRCA1", "It helps repair DNA."),
    ("p53", "Tumour protein P53", "A regulator."),
    ("DNA", "Deoxyribonucleic acid", "Deoxyribonucleic acid (DNA) is ..."),
    ("Article 5 of the Constitution", "Article Five", "Article 5 of the Constitution says ..."),
    ("law of war", "Jus in bello", "The law of war sets limits."),
    ("naive realism", "Naïve realism", "The view that ..."),
    ("ΕΛΛΑΣ", "Ἑλλάς", "A name."),
]

# Each shares a word, or the beginning of one, with a passage about something else.
DISTRACTORS = [
    ("quantum annealing", "Quantum mechanics", "Quantum mechanics is a theory of physics."),
    ("habeas corpus suspension", "Corpus linguistics", "A corpus is a body of text."),
    ("statin dosage", "Station", "A station has a dosage of trains."),
    ("gene therapy", "General", "In general, a therapy takes time."),
    ("internal bleeding", "International bleeding society", "It meets each year."),
    ("Article 5", "Article 7", "Article 7 came fifth."),
    ("the role of examples", "Banana bread", "The role of the banana is an example."),
    ("surface code error threshold", "Postal code", "A code for letters."),
    ("quantum decoherence", "", ""),
    ("", "Anything", "Anything at all."),
    ("?!", "Anything", "Anything at all."),
]


@pytest.mark.parametrize(("direction", "title", "text"), HITS, ids=[hit[0] for hit in HITS])
def test_real_hits_are_kept(direction: str, title: str, text: str) -> None:
    """Case, plural, ending, accents, hyphens and apostrophes make no difference."""
    assert relevant(direction, Passage(title, text, ""))


@pytest.mark.parametrize(
    ("direction", "title", "text"), DISTRACTORS, ids=[one[0] for one in DISTRACTORS]
)
def test_distractors_are_rejected(direction: str, title: str, text: str) -> None:
    """One word of two, a look-alike, another number, or only empty words: not about it."""
    assert not relevant(direction, Passage(title, text, ""))


def test_half_of_a_long_direction_is_enough() -> None:
    """Of four words two, of five three; the last of them decides."""
    passage = Passage("Alpha", "bravo charlie", "")
    assert relevant("alpha bravo delta echo", passage)
    assert not relevant("alpha delta echo golf", passage)
    assert relevant("alpha bravo charlie delta echo", passage)
    assert not relevant("alpha bravo delta echo golf", passage)


def test_content_words() -> None:
    """Long words that are not empty ones, numbers and acronyms, each once and in plain form."""
    assert content_words("The effects of ACE inhibitors on the heart and on hearts in 1987") == [
        "ace",
        "inhibitor",
        "heart",
        "1987",
    ]
    assert content_words("to be or not") == []


def test_the_packages_own_corpus() -> None:
    """Every entry is about its title; of another domain's, hardly any is (one in a thousand)."""
    entries = read_corpus()
    passages = {entry.title: Passage(entry.title, entry.text, "") for entry in entries}
    assert all(relevant(entry.title, passages[entry.title]) for entry in entries)
    strangers = [
        relevant(one.title, passages[other.title])
        for one in entries[::10]
        for other in entries
        if one.domain != other.domain
    ]
    assert sum(strangers) / len(strangers) < 0.001
