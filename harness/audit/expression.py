"""Arithmetic of printed counts, as text."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from harness.audit.printed import MOST_DIGITS

TOO_LARGE = f"it comes to 1e{MOST_DIGITS} or more; expected printed counts"
OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True)
class Expression:
    """An expression as written, and what it comes to, exactly."""

    text: str
    value: Fraction


def expression(text: object) -> Expression:
    """Compute an expression of numbers, + - * / and brackets; raises ValueError for all else."""
    try:
        return Expression(str(text), _computed(ast.parse(str(text), mode="eval").body))
    except (SyntaxError, ArithmeticError, RecursionError, MemoryError) as error:
        raise ValueError(f"{str(text)[:80]!r} cannot be computed: {error}") from error


def _computed(node: ast.expr) -> Fraction:
    found = _exactly(node)
    if abs(found) >= 10**MOST_DIGITS:
        raise OverflowError(TOO_LARGE)
    return found


def _exactly(node: ast.expr) -> Fraction:
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_computed(node.left), _computed(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_computed(node.operand)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        if node.value == math.inf:
            raise OverflowError(TOO_LARGE)
        return Fraction(str(node.value))
    raise ValueError(f"{ast.unparse(node)!r} is not of numbers, + - * / and brackets")
