"""One claim, written as TOML and audited: what most tests of the checks need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.audit.auditor import AuditFinding, audit
from harness.audit.claims import ClaimsFile

ANYWHERE = Path("claims.toml")


def finding(check: str, published: Any, **keys: Any) -> AuditFinding:
    """Audit one claim, with these keys; data and rounded are the file's."""
    data = keys.pop("data", None)
    head = {key: keys.pop(key) for key in ("rounded",) if key in keys}
    claim = {"place": "p. 1", "says": "so", "check": check, "published": published, **keys}
    file = ClaimsFile.model_validate(
        {"title": "one", "source": "a test", "claim": {"one": claim}, **head}
    )
    return audit(ANYWHERE, file, data).findings[0]


def verdict(check: str, published: Any, **keys: Any) -> str:
    """Audit one claim, and give its verdict alone."""
    return finding(check, published, **keys).verdict
