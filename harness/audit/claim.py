"""What every claim has, whatever its check."""

from __future__ import annotations

from harness.audit.fields import Text
from harness.audit.printed import Printed
from harness.forms import Strict

Published = Printed | list[Printed] | str | None


class Claim(Strict):
    """A figure or words that a source prints: where, and what they say.

    published: what the source prints, word for word. assuming: what the check takes for granted
    and the source does not state; then nothing is contradicted. other_source: the document, other
    than the source, that the figure is compared with. table: the table of the source that the
    figure stands in; all claims of one table are rounded the same way.
    """

    check: str
    place: Text
    says: Text
    published: Published
    assuming: str = ""
    other_source: str = ""
    table: str = ""

    @property
    def printed(self) -> str:
        """Return what is printed, as text."""
        if self.published is None:
            return "null"
        if isinstance(self.published, list):
            return f"[{', '.join(end.text for end in self.published)}]"
        return self.published.text if isinstance(self.published, Printed) else self.published
