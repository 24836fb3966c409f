"""Arithmetic of printed figures, as text."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

from harness.audit.printed import MOST_DIGITS, Rounding, Span, printed

TOO_LARGE = f"it comes to 1e{MOST_DIGITS} or more; expected printed counts"
OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
MOST_CUTS = 6  # halvings of the box along each name that the expression repeats
MOST_REPEATED = 3  # names that are cut; beyond them the range is wider than need be, never narrower

Box = Mapping[str, Span]


@dataclass(frozen=True)
class Expression:
    """An expression as written; figures that stand in it are named by where they stand."""

    text: str
    tree: ast.expr

    @property
    def names(self) -> set[str]:
        """Return the names that it uses."""
        return {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}

    @property
    def may_round_whole_numbers(self) -> bool:
        """Tell whether it holds whole numbers, and is more than a product of them."""
        if not any(isinstance(node, ast.Constant) and _whole(node) for node in self._nodes):
            return False
        steps = [node.op for node in self._nodes if isinstance(node, ast.BinOp)]
        return any(not isinstance(step, ast.Mult) for step in steps)

    def exact(self, values: Mapping[str, Fraction]) -> Fraction:
        """Compute it with every figure taken as it stands."""
        return _exact(self.tree, values)

    @property
    def _nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))


def expression(text: object) -> Expression:
    """Read figures, names, + - * / and brackets; raises ValueError for all else."""
    try:
        tree = ast.parse(str(text), mode="eval").body
        for node in ast.walk(tree):
            _require_arithmetic(node)
        parsed = Expression(str(text), tree)
        if not parsed.names:
            parsed.exact({})
    except (SyntaxError, ArithmeticError, RecursionError, MemoryError) as error:
        raise ValueError(f"{str(text)[:80]!r} cannot be computed: {error}") from error
    return parsed


def range_of(
    source: Expression, box: Box, rounding: Rounding, *, whole_rounded: bool = False
) -> Span | None:
    """Return a range that holds all values over the box; None where it divides by what can be 0.

    Exact where no name is repeated (interval arithmetic: Moore, Interval Analysis, 1966), and where
    the value only rises or only falls with each name. Elsewhere the box is cut, and the range is
    slightly wider than need be: nothing is called impossible that is possible. Without names
    each figure with decimals stands for its rounding; whole_rounded: so does each whole number,
    but powers of ten.
    """
    if not box:
        return _interval(source.tree, {}, _literals(source, rounding, whole_rounded))
    if (corners := _corners(source, box)) is not None:
        return corners
    repeated = [name for name in box if _uses(source.tree, name) > 1][:MOST_REPEATED]
    spans = [_interval(source.tree, piece, {}) for piece in _cuts(box, repeated)]
    defined = [span for span in spans if span is not None]
    if len(defined) < len(spans):
        return None
    return Span(min(span.low for span in defined), max(span.high for span in defined))


def _corners(source: Expression, box: Box) -> Span | None:
    """Return the exact range where the value only rises or only falls with each name."""
    lowest, highest = dict[str, Fraction](), dict[str, Fraction]()
    for name, span in box.items():
        slope = _slope(source.tree, name, box)
        if slope is None or slope.low < 0 < slope.high:
            return None
        ends = [Fraction(end) for end in (span.ends if slope.low >= 0 else span.ends[::-1])]
        lowest[name], highest[name] = ends
    return Span(source.exact(lowest), source.exact(highest))


def _slope(node: ast.expr, name: str, box: Box) -> Span | None:
    """Return a range that holds the derivative by a name, over the box."""
    if isinstance(node, ast.UnaryOp):
        inner = _slope(node.operand, name, box)
        return None if inner is None else Span(-inner.high, -inner.low)
    if not isinstance(node, ast.BinOp):
        slope = Fraction(isinstance(node, ast.Name) and node.id == name)
        return Span(slope, slope)
    values = _interval(node.left, box, {}), _interval(node.right, box, {})
    slopes = _slope(node.left, name, box), _slope(node.right, name, box)
    if isinstance(node.op, ast.Add | ast.Sub):
        return _combined(node.op, *slopes)
    crossed = [
        _combined(ast.Mult(), slopes[0], values[1]),
        _combined(ast.Mult(), values[0], slopes[1]),
    ]
    if isinstance(node.op, ast.Mult):
        return _combined(ast.Add(), *crossed)
    square = _combined(ast.Mult(), values[1], values[1])
    return _combined(ast.Div(), _combined(ast.Sub(), *crossed), square)


def _require_arithmetic(node: ast.AST) -> None:
    if isinstance(node, ast.operator | ast.unaryop | ast.expr_context):
        return
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return
    if isinstance(node, ast.Name):
        return
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        if node.value == math.inf:
            raise OverflowError(TOO_LARGE)
        return
    words = ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__
    raise ValueError(f"{words!r} is not of numbers, names, + - * / and brackets")


def _exact(node: ast.expr, values: Mapping[str, Fraction]) -> Fraction:
    value = _step(node, values)
    if abs(value) >= 10**MOST_DIGITS:
        raise OverflowError(TOO_LARGE)
    return value


def _step(node: ast.expr, values: Mapping[str, Fraction]) -> Fraction:
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](_exact(node.left, values), _exact(node.right, values))
    if isinstance(node, ast.UnaryOp):
        return -_exact(node.operand, values)
    if isinstance(node, ast.Name):
        return values[node.id]
    assert isinstance(node, ast.Constant)
    return Fraction(str(node.value))


def _whole(node: ast.Constant) -> bool:
    return isinstance(node.value, int)


def _literals(
    source: Expression, rounding: Rounding, whole_rounded: bool
) -> dict[tuple[int, int], Span]:
    """Return what each written figure stands for, by where it stands."""
    spans = {}
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Constant):
            continue
        text = ast.get_source_segment(source.text.strip(), node) or str(node.value)
        power_of_ten = _whole(node) and set(text.lstrip("1")) <= {"0"}
        if not _whole(node) or (whole_rounded and not power_of_ten):
            spans[(node.lineno, node.col_offset)] = printed(text).span_under(rounding)
    return spans


def _interval(node: ast.expr, box: Box, literals: Mapping[tuple[int, int], Span]) -> Span | None:
    if isinstance(node, ast.Name):
        return box[node.id]
    if isinstance(node, ast.Constant):
        value = Fraction(str(node.value))
        return literals.get((node.lineno, node.col_offset), Span(value, value))
    if isinstance(node, ast.UnaryOp):
        inner = _interval(node.operand, box, literals)
        return None if inner is None else Span(-inner.high, -inner.low)
    assert isinstance(node, ast.BinOp)
    return _combined(
        node.op, _interval(node.left, box, literals), _interval(node.right, box, literals)
    )


def _combined(step: ast.operator, first: Span | None, right: Span | None) -> Span | None:
    """Return the range of left and right combined; None where it divides by what can be 0."""
    if first is None or right is None:
        return None
    if isinstance(step, ast.Div) and right.low <= 0 <= right.high:
        return None
    operation = OPERATORS[type(step)]
    corners = [operation(Fraction(a), Fraction(b)) for a in first.ends for b in right.ends]
    return Span(min(corners), max(corners))


def _uses(tree: ast.expr, name: str) -> int:
    return sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))


def _cuts(box: Box, names: Sequence[str]) -> Iterator[Box]:
    """Yield the box in pieces, cut along some names."""
    halvings = MOST_CUTS // max(1, len(names)) if names else 0
    pieces = [_pieces(box[name], 2**halvings) for name in names]
    for chosen in product(*pieces):
        yield {**box, **dict(zip(names, chosen, strict=True))}


def _pieces(span: Span, count: int) -> list[Span]:
    low, width = Fraction(span.low), Fraction(span.high) - Fraction(span.low)
    ends = [low + width * step / count for step in range(count + 1)]
    return [Span(a, b) for a, b in pairwise(ends)]
