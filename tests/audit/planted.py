"""Tables with one wrong figure, made from unrounded figures, and tables that are right."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import NamedTuple

ROUNDINGS = (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_DOWN)
MODELS = "Alder Birch Cedar Dogwood Elm Fir Gorse Hazel Ivy Juniper Larch Maple".split()
SETS = "Birds Trees Sums Plans Maps".split()


class Table(NamedTuple):
    """A table as text: its header, and its cells, the label first."""

    header: list[str]
    rows: list[list[str]]

    def latex(self) -> str:
        """Return the table as LaTeX."""
        lines = [r"\begin{table}", rf"\begin{{tabular}}{{l{'c' * (len(self.header) - 1)}}}"]
        lines += [r"\toprule", " & ".join(self.header) + r" \\", r"\midrule"]
        lines += [" & ".join(row) + r" \\" for row in self.rows]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


def written(number: Decimal, rounding: str, places: int = 1) -> str:
    """Write a number with its places, rounded so."""
    return str(number.quantize(Decimal(1).scaleb(-places), rounding))


def mean(numbers: list[Decimal]) -> Decimal:
    """Return the plain mean."""
    return sum(numbers, Decimal(0)) / len(numbers)


class Draw:
    """Draws of one seed: unrounded scores of some models on some sets."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.rounding = ROUNDINGS[seed % len(ROUNDINGS)]
        self.models = MODELS[: self.random.randint(7, 12)]
        self.sets = SETS[: self.random.randint(3, 5)]
        self.scores = [
            [Decimal(self.random.randint(2000, 9500)) / 100 for _ in self.sets] for _ in self.models
        ]

    def write(self, number: Decimal) -> str:
        """Write a number with one place, in this draw's way of rounding."""
        return written(number, self.rounding)

    def averages(self) -> Table:
        """Return scores with their average."""
        return Table(
            ["Model", *self.sets, "Avg."],
            [
                [model, *map(self.write, scores), self.write(mean(scores))]
                for model, scores in zip(self.models, self.scores, strict=True)
            ],
        )

    def best_in_bold(self) -> Table:
        """Return averages with the best of each column in bold."""
        table = self.averages()
        for column in range(1, len(table.header)):
            best = max(Decimal(row[column]) for row in table.rows)
            for row in table.rows:
                if Decimal(row[column]) == best:
                    row[column] = rf"\textbf{{{row[column]}}}"
        return table

    def gains(self) -> Table:
        """Return a base, a score, and the gain in points."""
        rows = [
            [model, self.write(base), self.write(new), self.write(new - base)]
            for model, (base, new, *_) in zip(self.models, self.scores, strict=True)
        ]
        return Table(["Model", "Base", "Ours", r"$\Delta$"], rows)

    def outcomes(self) -> Table:
        """Return win, tie and loss, in percent of the same number of pairs."""
        rows = []
        for model in self.models:
            win, tie = self.random.randint(20, 120), self.random.randint(5, 60)
            counts = [win, tie, 211 - win - tie]
            rows.append([model, *(self.write(Decimal(100 * k) / 211) for k in counts)])
        return Table(["Model", "Win", "Tie", "Loss"], rows)

    def shares(self) -> Table:
        """Return counts with their percentage behind."""
        rows = []
        for model in self.models:
            n = self.random.choice([40, 50, 60, 75, 80])
            k = self.random.randint(n // 3, n - 2)
            rows.append([model, f"{k}/{n} ({self.write(Decimal(100 * k) / n)}\\%)"])
        return Table(["Model", "Right"], rows)

    def intervals(self) -> Table:
        """Return scores with an interval."""
        rows = []
        for model, (score, *_) in zip(self.models, self.scores, strict=True):
            ends = [score - self._width(), score + self._width()]
            low, high = map(self.write, ends)
            rows.append([model, f"{self.write(score)} [{low}, {high}]"])
        return Table(["Model", "Accuracy"], rows)

    def sizes(self, *, micro: bool = False) -> Table:
        """Return scores by group with their numbers of items, and the macro average below."""
        counts = [self.random.choice([50, 120, 400, 900]) for _ in self.models]
        columns = [[scores[index] for scores in self.scores] for index in range(3)]
        weights = [Decimal(count) for count in counts] if micro else [Decimal(1)] * len(counts)
        rows = [
            [model, str(count), *map(self.write, scores[:3])]
            for model, count, scores in zip(self.models, counts, self.scores, strict=True)
        ]
        averages = [
            sum((w * x for w, x in zip(weights, column, strict=True)), Decimal(0)) / sum(weights)
            for column in columns
        ]
        rows.append(["Macro avg.", "", *map(self.write, averages)])
        return Table(["Group", "n", *SETS[:3]], rows)

    def totals(self) -> Table:
        """Return counts with their total."""
        rows = []
        for model in self.models:
            counts = [self.random.randint(3, 300) for _ in self.sets]
            rows.append([model, *map(str, counts), str(sum(counts))])
        return Table(["Model", *self.sets, "Total"], rows)

    def two_rows(self) -> tuple[int, int]:
        """Return two different rows."""
        first, second = self.random.sample(range(len(self.models)), 2)
        return first, second

    def _scores(self, ability: int) -> list[Decimal]:
        """Return the scores of a model: around its ability, as those of one model are."""
        return [Decimal(ability + self.random.randint(-1200, 1200)) / 100 for _ in self.sets]

    def _width(self) -> Decimal:
        return Decimal(self.random.randint(100, 600)) / 100


def clean(seed: int) -> Table:
    """Return a table that is right, of a kind and a way of rounding that follow from the seed."""
    draw = Draw(seed)
    kinds: list[Callable[[], Table]] = [
        draw.averages, draw.best_in_bold, draw.gains, draw.outcomes, draw.shares,
        draw.intervals, draw.sizes, draw.totals,
    ]  # fmt: skip
    return kinds[seed // len(ROUNDINGS) % len(kinds)]()


def wrong_digit(draw: Draw) -> Table:
    """Return averages of which one is off by 1 to 9 points."""
    table = draw.averages()
    row = table.rows[draw.two_rows()[0]]
    row[-1] = str(Decimal(row[-1]) + draw.random.choice([-1, 1]) * draw.random.randint(1, 9))
    return table


def swapped_averages(draw: Draw) -> Table:
    """Return averages of which two stand in each other's row."""
    table = draw.averages()
    rows = range(len(table.rows))
    first, second = draw.two_rows()
    if table.rows[first][-1] == table.rows[second][-1]:
        second = next(r for r in rows if table.rows[r][-1] != table.rows[first][-1])
    a, b = table.rows[first], table.rows[second]
    a[-1], b[-1] = b[-1], a[-1]
    return table


def shifted_header(draw: Draw) -> Table:
    """Return averages whose header stands one column too far to the left."""
    table = draw.averages()
    header = [*table.header[:-2], table.header[-1], table.header[-2]]
    return Table(header, table.rows)


def wrong_bold(draw: Draw) -> Table:
    """Return scores of which one column has the wrong cell in bold."""
    table = draw.best_in_bold()
    column = draw.random.randrange(1, len(table.header))
    bold = next(row for row in table.rows if "textbf" in row[column])
    plain = [row for row in table.rows if "textbf" not in row[column]]
    middle = sorted(plain, key=lambda row: Decimal(row[column]))[len(plain) // 2]
    middle[column] = rf"\textbf{{{middle[column]}}}"
    bold[column] = bold[column].removeprefix(r"\textbf{").removesuffix("}")
    return table


def other_split(draw: Draw) -> Table:
    """Return averages of which one leaves the last set out."""
    table = draw.averages()
    far = max(
        range(len(draw.scores)), key=lambda row: abs(mean(draw.scores[row]) - draw.scores[row][-1])
    )
    table.rows[far][-1] = draw.write(mean(draw.scores[far][:-1]))
    return table


def micro_called_macro(draw: Draw) -> Table:
    """Return an average row that is weighted by size and called macro."""
    return draw.sizes(micro=True)


def other_denominator(draw: Draw) -> Table:
    """Return shares of which one has the denominator of another row."""
    table = draw.shares()
    row = table.rows[draw.two_rows()[0]]
    k, n = (int(number) for number in row[1].split(" ")[0].split("/"))
    wrong = 50 if n != 50 else 60
    row[1] = f"{k}/{n} ({draw.write(Decimal(100 * k) / wrong)}\\%)"
    return table


def wrong_gain(draw: Draw) -> Table:
    """Return gains of which one is taken the other way around."""
    table = draw.gains()
    far = max(range(len(table.rows)), key=lambda row: abs(Decimal(table.rows[row][-1])))
    table.rows[far][-1] = str(-Decimal(table.rows[far][-1]))
    return table


def not_a_hundred(draw: Draw) -> Table:
    """Return win, tie and loss that miss 100 in one row by 1 to 9."""
    table = draw.outcomes()
    row = table.rows[draw.two_rows()[0]]
    row[2] = str(Decimal(row[2]) + draw.random.randint(1, 9))
    return table


def outside_its_interval(draw: Draw) -> Table:
    """Return intervals of which one does not hold its estimate."""
    table = draw.intervals()
    row = table.rows[draw.two_rows()[0]]
    estimate, interval = row[1].split(" ", 1)
    row[1] = f"{Decimal(estimate) + 10} {interval}"
    return table


PLANTED: dict[str, Callable[[Draw], Table]] = {
    "an average is off": wrong_digit,
    "two averages are swapped": swapped_averages,
    "a header is shifted": shifted_header,
    "the wrong cell is bold": wrong_bold,
    "an average is over another split": other_split,
    "micro is called macro": micro_called_macro,
    "a share has another row's denominator": other_denominator,
    "a gain has the wrong sign": wrong_gain,
    "win, tie and loss do not make 100": not_a_hundred,
    "an estimate is outside its interval": outside_its_interval,
}
