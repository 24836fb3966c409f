"""Who a recorded call went to: the study's names of the models and sources at its address."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import msgspec

from harness.recording.interaction import Interaction
from harness.recording.redaction import clean_url
from harness.run.wiring import endpoints
from harness.study import Study
from harness.study_file import ModelEntry


def asked(study: Study, kept: Interaction) -> list[str]:
    """Give the endpoints that a call may have gone to, by the longest address that fits it.

    Several where models share an address and a name; of those at one address the call's model
    decides.
    """
    known = endpoints(study)
    fitting = {name: _length(entry.base_url, kept.request.uri) for name, entry in known.items()}
    longest = max(fitting.values(), default=0)
    at = [name for name, length in fitting.items() if length == longest > 0]
    sent = _sent(kept)
    return [name for name in at if _is_for(known[name], sent, kept.request.uri)]


def _length(base_url: str, uri: str) -> int:
    base = clean_url(base_url).rstrip("/")
    return len(base) if uri == base or uri.startswith((f"{base}/", f"{base}?")) else 0


def _sent(kept: Interaction) -> Any:
    try:
        return msgspec.json.decode(kept.request_bytes)
    except msgspec.DecodeError:
        return None


def _is_for(entry: Any, sent: Any, uri: str) -> bool:
    """Tell whether a request is for this model; a source takes whatever comes to its address."""
    if not isinstance(entry, ModelEntry):
        return True
    if entry.provider == "azure":
        return f"/deployments/{quote(entry.model, safe='')}/" in uri
    return isinstance(sent, dict) and sent.get("model") == entry.model
