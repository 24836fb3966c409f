"""The tables of a LaTeX source, as far as papers write them; the rest is named as unread.

A small reader, not LaTeX: tabular and its kin, booktabs, multicolumn, multirow, siunitx, bold and
underline, and macros without conditions that the source itself defines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from harness.audit.tables.grid import Grid, RawRow, TableCell, build_grid, read_cell

TABULARS = "tabular|tabular\\*|tabularx|tabulary|longtable|tblr|xltabular"
BEGIN = re.compile(rf"\\begin\{{({TABULARS})\}}")
FLOAT = re.compile(r"\\(begin|end)\{(table\*?|wraptable|sidewaystable\*?|subtable)\}")
COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*")
DEFINITION = re.compile(
    r"\\(?:newcommand|renewcommand|providecommand|DeclareRobustCommand)\*?\s*\{?\\([A-Za-z]+)\}?"
    r"\s*(?:\[(\d)\])?(\[[^\]]*\])?\s*(?=\{)"
    r"|\\def\s*\\([A-Za-z]+)((?:#\d)*)\s*(?=\{)"
)
FULL_RULE = re.compile(r"\\(?:midrule|toprule|bottomrule|hline|specialrule|Xhline|hdashline)\b")
RULE = re.compile(
    r"\\(?:cmidrule|cline|cdashline|addlinespace|specialrule|midrule|toprule|bottomrule|hline|Xhline"
    r"|hdashline|noalign|endhead|endfirsthead|endfoot|endlastfoot|rowcolor|arrayrulecolor)\b\*?"
    r"(?:\s*\([^)]*\)|\s*\[[^\]]*\]|\s*\{[^{}]*\})*"
)
BOLD = re.compile(r"\\(?:textbf|bfseries|bf|mathbf|boldsymbol|bm|boldmath|B)(?![A-Za-z])")
UNDERLINE = re.compile(r"\\(?:underline|uline|ul|underbar)(?![A-Za-z])")
DROPPED_WITH_ARGUMENT = (
    "cite", "citep", "citet", "citealp", "citeyearpar", "footnote", "footnotemark", "label", "ref",
    "cellcolor", "color", "rowcolor", "vspace", "hspace", "phantom", "hphantom", "vphantom",
    "rule", "includegraphics", "tnote", "tablefootnote", "fontsize", "rotatebox", "raisebox",
)  # fmt: skip
KEEP_SECOND = ("textcolor", "colorbox", "SI", "qty", "rotatebox", "scalebox", "raisebox", "href")
MEANINGS = {
    r"\pm": "±", r"\%": "%", r"\&": "&", r"\#": "#", r"\_": "_", r"\$": "$", r"\uparrow": "↑",
    r"\downarrow": "↓", r"\Delta": "Δ", r"\delta": "δ", r"\dagger": "†", r"\ddagger": "‡",
    r"\textendash": "–", r"\textemdash": "—", r"\times": "×", r"\checkmark": "✓", r"\ast": "*",
    r"\textpm": "±", r"\textminus": "-", r"\star": "*", r"\xmark": "✗",
}  # fmt: skip
MOST_EXPANSIONS, MOST_CHARACTERS = 2_000, 200_000  # of one row


@dataclass(frozen=True)
class Macro:
    """A macro that the source defines: how many arguments it takes, and its text."""

    arguments: int
    text: str


def latex_tables(source: str) -> list[Grid]:
    """Return every tabular of a LaTeX source, in its order."""
    source = _flat(COMMENT.sub(r"\1", source))
    macros = _macros(source)
    return [
        _grid(number, source, match, macros)
        for number, match in enumerate(BEGIN.finditer(source), 1)
    ]


def _flat(source: str) -> str:
    """Make one text of each tabular inside another's cell, such as a label of two lines."""
    open_tables: list[re.Match[str]] = []
    nested: list[tuple[int, int, int]] = []
    for edge in re.finditer(rf"\\(begin|end)\{{({TABULARS})\}}", source):
        if edge[1] == "begin":
            open_tables.append(edge)
        elif open_tables:
            begin = open_tables.pop()
            if open_tables:
                start = _after_arguments(source, begin.end(), begin[2])
                nested.append((begin.start(), start, edge.start()))
    for outer, start, end in sorted(nested, reverse=True):
        text = re.sub(r"\\\\|(?<!\\)&", " ", source[start:end])
        after = source.index("}", end) + 1
        lines = "\n" * (source.count("\n", outer, after) - text.count("\n"))
        source = f"{source[:outer]}{{{text}{lines}}}{source[after:]}"
    return source


def _grid(number: int, source: str, begin: re.Match[str], macros: dict[str, Macro]) -> Grid:
    end = source.find(rf"\end{{{begin[1]}}}", begin.end())
    body_start = _after_arguments(source, begin.end(), begin[1])
    body = source[body_start : end if end >= 0 else len(source)]
    caption, label = _surroundings(source, begin.start())
    header: list[list[str]] = []
    rows: list[RawRow] = []
    down: dict[int, tuple[int, str]] = {}
    block = 0
    for text, position, ruled in _rows(body):
        if ruled and (header or rows):
            block += 1
        line = source.count("\n", 0, body_start + position) + 1
        cells, spans = _cells(_expanded(text, macros), down)
        if not any(cell.text for cell in cells):
            continue
        if not rows and _heads(cells, block):
            header.append([cell.text for cell in cells])
        else:
            wide = spans[0] >= max(2, len(cells) - 1)
            rows.append(RawRow(tuple(cells), line, block, spanning=wide))
    line = source.count("\n", 0, begin.start()) + 1
    return build_grid(label or f"table {number}", caption, line, header, rows)


def _heads(cells: list[TableCell], block: int) -> bool:
    """Tell whether a row is of the header: before the first rule below it, and of words."""
    figures = sum(cell.figure is not None for cell in cells[1:])
    return block == 0 or (block == 1 and figures == 0 and not any(c.unread for c in cells[1:]))


def _rows(body: str) -> Iterator[tuple[str, int, bool]]:
    """Yield each row's text, where it starts, and whether a full rule stands before it."""
    for text, position in _split(body, ("\\\\", "\\tabularnewline")):
        text = re.sub(r"^\s*\*?\s*\[[-\d. a-z]*\]", "", text)
        ruled = FULL_RULE.search(text) is not None
        blank = len(text) - len(text.lstrip())
        yield RULE.sub(" ", text), position + blank, ruled


def _split(text: str, separators: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Yield what stands between separators outside all braces, and where it starts."""
    depth, start, position = 0, 0, 0
    while position < len(text):
        separator = next((s for s in separators if text.startswith(s, position)), None)
        if separator is not None and depth == 0:
            yield text[start:position], start
            position += len(separator)
            start = position
        elif text[position] == "\\":
            position += 2
        else:
            depth += {"{": 1, "}": -1}.get(text[position], 0)
            position += 1
    yield text[start:], start


def _cells(text: str, down: dict[int, tuple[int, str]]) -> tuple[list[TableCell], list[int]]:
    """Return the cells of a row, a spanning one as often as it spans, and the span of each.

    down: by column, the rows that a multirow still covers, and its text.
    """
    cells: list[TableCell] = []
    spans: list[int] = []
    for source, _ in _split(text, ("&",)):
        span, inner = _multicolumn(source)
        rows, inner = _multirow(inner)
        cell = _cell(inner)
        column = len(cells)
        if rows > 1:
            down[column] = (rows - 1, cell.text)
        elif column in down and not cell.text:
            remaining, covering = down.pop(column)
            cell = read_cell(covering) if column == 0 or not cell.text else cell
            if remaining > 1:
                down[column] = (remaining - 1, covering)
        cells += [cell] * span
        spans += [span] * span
    return cells, spans


def _multicolumn(source: str) -> tuple[int, str]:
    match = re.match(r"\s*\\multicolumn\s*", source)
    if match is None:
        return 1, source
    count, position = _argument(source, match.end())
    _, position = _argument(source, position)
    inner, position = _argument(source, position)
    return max(1, _count(count)), inner + source[position:]


def _multirow(source: str) -> tuple[int, str]:
    match = re.match(r"\s*\\multirow\s*(?:\[[^\]]*\])?\s*", source)
    if match is None:
        return 1, source
    count, position = _argument(source, match.end())
    position = _skip_option(source, position)
    _, position = _argument(source, position)
    position = _skip_option(source, position)
    inner, position = _argument(source, position)
    return _count(count.strip().lstrip("-")), inner + source[position:]


def _count(text: str) -> int:
    """Return a number of rows or columns; 1 where it is none that a table has."""
    return int(text) if re.fullmatch(r"\s*[0-9]{1,2}\s*", text) else 1


def _cell(source: str) -> TableCell:
    bold, underlined = bool(BOLD.search(source)), bool(UNDERLINE.search(source))
    return read_cell(_plain(source), bold=bold, underlined=underlined)


def _plain(source: str) -> str:
    """Return a cell's text without markup."""
    source = source.replace(r"\\", " ")
    for name in KEEP_SECOND:
        source = re.sub(rf"\\{name}\s*(?:\[[^\]]*\])?\s*\{{[^{{}}]*\}}", "", source)
    for name in DROPPED_WITH_ARGUMENT:
        source = re.sub(rf"\\{name}\*?\s*(?:\[[^\]]*\])*\s*\{{[^{{}}]*\}}", "", source)
    for command, meaning in MEANINGS.items():
        source = re.sub(re.escape(command) + r"(?![A-Za-z])", meaning.replace("\\", r"\\"), source)
    source = re.sub(r"\^\s*\{?\s*([*†‡§¶a-z,\s]*|\\[a-z]+)\s*\}?", "", source)
    source = re.sub(r"\\(?:[,;:!> ]|quad|qquad|hfill|centering|newline)(?![A-Za-z])", " ", source)
    source = re.sub(r"\\[A-Za-z@]+\*?", "", source)
    source = source.replace("~", " ").replace("\\", "")
    source = re.sub(r"[{}$]", "", source).replace("_±", "±").replace("_", " ")
    return re.sub(r"\s+", " ", source).strip()


def _macros(source: str) -> dict[str, Macro]:
    macros = {}
    for match in DEFINITION.finditer(source):
        if match[3]:
            continue
        text, _ = _argument(source, match.end())
        count = int(match[2] or 0) if match[1] else (match[5] or "").count("#")
        macros[match[1] or match[4]] = Macro(count, text)
    return macros


def _expanded(text: str, macros: dict[str, Macro]) -> str:
    """Replace the source's own macros; one that grows without end stays as it is."""
    if not macros:
        return text
    names = "|".join(sorted(map(re.escape, macros), key=len, reverse=True))
    pattern = re.compile(rf"\\({names})(?![A-Za-z])")
    position = 0
    for _ in range(MOST_EXPANSIONS):
        match = pattern.search(text, position)
        if match is None or len(text) > MOST_CHARACTERS:
            break
        macro, end, inner = macros[match[1]], match.end(), macros[match[1]].text
        if rf"\{match[1]}" in inner:
            position = match.end()
            continue
        for number in range(1, macro.arguments + 1):
            argument, end = _argument(text, end)
            inner = inner.replace(f"#{number}", argument)
        text = f"{text[: match.start()]}{{{inner}}}{text[end:]}"
    return text


def _argument(text: str, position: int) -> tuple[str, int]:
    """Return the braced argument, or the one character, from a position, and where it ends."""
    while position < len(text) and text[position].isspace():
        position += 1
    if position >= len(text) or text[position] != "{":
        return text[position : position + 1], min(position + 1, len(text))
    depth, start = 0, position + 1
    while position < len(text):
        if text[position] == "\\":
            position += 2
            continue
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        position += 1
        if depth == 0:
            return text[start : position - 1], position
    return text[start:], len(text)


def _skip_option(text: str, position: int) -> int:
    match = re.compile(r"\s*\[[^\]]*\]").match(text, position)
    return match.end() if match else position


def _after_arguments(source: str, position: int, environment: str) -> int:
    """Return where the rows begin: behind the column specification."""
    position = _skip_option(source, position)
    if environment in ("tabular*", "tabularx", "tabulary", "xltabular"):
        _, position = _argument(source, position)
        position = _skip_option(source, position)
    return _argument(source, position)[1]


def _surroundings(source: str, position: int) -> tuple[str, str]:
    """Return the caption and the label of the float around a position, if there is one."""
    before = list(FLOAT.finditer(source, 0, position))
    if not before or before[-1][1] == "end":
        return "", ""
    start = before[-1].start()
    end = source.find(rf"\end{{{before[-1][2]}}}", position)
    around = source[start : end if end >= 0 else len(source)]
    caption = re.search(r"\\caption\s*(?:\[[^\]]*\])?\s*(?=\{)", around)
    label = re.search(r"\\label\{([^}]*)\}", around)
    text = _plain(_argument(around, caption.end())[0]) if caption else ""
    return text, label[1] if label else ""
