"""The colours of the page and of its figures, in light and in dark, said once."""

from __future__ import annotations

from typing import NamedTuple


class Tone(NamedTuple):
    """One colour in both schemes; `name` is its CSS variable."""

    name: str
    light: str
    dark: str

    @property
    def variable(self) -> str:
        """Return it as CSS has it."""
        return f"var(--{self.name})"


PAPER = Tone("paper", "#fdfdfc", "#14171a")
RAISED = Tone("raised", "#f3f3f0", "#1e2226")
INK = Tone("ink", "#1b1f24", "#e8e6e3")
FAINT = Tone("faint", "#5a6270", "#a3abb5")
RULE = Tone("rule", "#d4d6d9", "#3a4047")
LINK = Tone("link", "#0a5aa8", "#7db8f2")
GOOD = Tone("good", "#1d6b3c", "#7fd39c")
BAD = Tone("bad", "#b01c2e", "#ff8f8f")
TRAP = Tone("trap", "#ffe08a", "#6b5310")
ZONE = Tone("zone", "#f6cfd0", "#4d2226")
SHADE = Tone("shade", "#9aa1ab", "#000000")
SERIES = (
    Tone("series-1", "#0b62a5", "#6bb1f5"),
    Tone("series-2", "#c4500b", "#ff9d5c"),
    Tone("series-3", "#157a56", "#58cfa2"),
    Tone("series-4", "#a12f88", "#ec8bd9"),
    Tone("series-5", "#7a5d00", "#d8bb52"),
    Tone("series-6", "#5446b8", "#a99cff"),
    Tone("series-7", "#b3213f", "#ff8296"),
    Tone("series-8", "#3b7080", "#83c5d6"),
    Tone("series-9", "#56620f", "#b5c560"),
)
TONES = (PAPER, RAISED, INK, FAINT, RULE, LINK, GOOD, BAD, TRAP, ZONE, SHADE, *SERIES)


def series_tone(place: int) -> Tone:
    """Return the tone of the series at a place, from 0; after the last they begin again."""
    return SERIES[place % len(SERIES)]


def declarations(scheme: str) -> str:
    """Return the CSS declarations of every tone in "light" or "dark"."""
    return "; ".join(f"--{tone.name}: {getattr(tone, scheme)}" for tone in TONES)
