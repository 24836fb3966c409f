"""Drills of made-up targets whose true EVD is known; imports nothing of the project.

A world is a mixture of kinds of branches: how many of all there are, and how often a question about
one is answered correctly at each depth. With one kind all answers are independent; with several,
those of a branch hang together, and the branches that survive are the better ones.
"""

import math
import random
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

DEPTHS = 15
TIERS = [tier for tier in (0.96, 0.75, 0.5, 0.3, 0.2) for _ in range(3)]


class Answer(NamedTuple):
    """One question at its place, and whether it was answered correctly."""

    depth: int
    question: int
    path: int
    branch: int
    correct: bool


class Kind(NamedTuple):
    """A kind of branch: its share of all, and its accuracy at each depth."""

    share: float
    accuracies: Sequence[float]


World = list[Kind]


def independent(accuracies: Sequence[float]) -> World:
    """Make a world in which every question of a depth is as hard as any other."""
    return [Kind(1.0, accuracies)]


def uneven(accuracies: Sequence[float], deviation: float, kinds: int = 81) -> World:
    """Make a world of branches that differ by a normal effect on the logits."""
    effects = [deviation * NormalDist().inv_cdf((i + 0.5) / kinds) for i in range(kinds)]
    return [Kind(1 / kinds, [_moved(a, effect) for a in accuracies]) for effect in effects]


def limited(ends: float, before: float = 0.98, after: float = 0.3) -> World:
    """Make a world of branches that are known to a depth of their own, and hardly beyond it."""
    known = [ends * (1 - ends) ** depth for depth in range(DEPTHS)]
    shares = [*known, 1 - sum(known)]
    return [
        Kind(share, [before] * depth + [after] * (DEPTHS - depth))
        for depth, share in enumerate(shares)
    ]


def _moved(share: float, effect: float) -> float:
    return 1 / (1 + math.exp(-(math.log(share / (1 - share)) + effect)))


def true_survival(world: World) -> list[float]:
    """Give the share of branches of which a line of questions is right to each depth."""
    return [
        sum(kind.share * math.prod(kind.accuracies[:depth]) for kind in world)
        for depth in range(1, DEPTHS + 1)
    ]


def true_evd(world: World, theta: float = 0.2) -> float:
    """Give the EVD of asking without end at each depth, up to the first S(d) below theta."""
    total = 0.0
    for survival in true_survival(world):
        total += survival
        if survival < theta:
            break
    return total


def drill(
    world: World, chance: random.Random, questions: int = 30, theta: float = 0.2
) -> list[Answer]:
    """Hold one drill: N questions a depth, a right answer goes on, until S(d) is below theta."""
    weights = [kind.share for kind in world]
    kinds = chance.choices(world, weights, k=questions)
    paths = list(range(questions))  # each path is the branch it began as
    answers: list[Answer] = []
    survival = 1.0
    for depth in range(1, DEPTHS + 1):
        each, more = divmod(questions, len(paths))
        dealt = [place for place in range(len(paths)) for _ in range(each + (place < more))]
        now = [
            Answer(
                depth,
                number,
                place + 1,
                paths[place] + 1,
                chance.random() < kinds[paths[place]].accuracies[depth - 1],
            )
            for number, place in enumerate(dealt, 1)
        ]
        answers += now
        paths = [answer.branch - 1 for answer in now if answer.correct]
        survival *= len(paths) / questions
        if round(survival, 9) < theta:
            break
    return answers
