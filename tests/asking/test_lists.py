"""Lists of texts in a reply: read leniently in form, never in content."""

from __future__ import annotations

import pytest

from harness.asking.replies.parser import Texts, read_reply


@pytest.mark.parametrize(
    ("reply", "state", "items"),
    [
        ('{"items": ["heart", "lung"]}', "ok", ("heart", "lung")),
        ('Here:\n```json\n{"items": ["heart",]}\n```', "ok", ("heart",)),
        ('{"items": [" heart\\n beat ", "", "heart beat"]}', "ok", ("heart beat",)),
        ('{"items": []}', "ok", ()),
        ('{"items": "heart, lung"}', "type_error", None),
        ('{"items": ["heart", 3]}', "type_error", None),
        ('{"items": null}', "type_error", None),
        ('{"list": ["heart"]}', "missing_field", None),
        ('["heart", "lung"]', "wrong_shape", None),
        ('{"items": ["heart", "lu', "truncated", None),
        ("heart and lung", "no_json", None),
    ],
)
def test_a_list_of_texts(reply: str, state: str, items: tuple[str, ...] | None) -> None:
    """Spacing is evened out, repeats and empty ones go; anything but a list of texts is told."""
    verdict = read_reply(reply, "stop", {"items": Texts()}, 2)
    assert verdict.state == state
    assert verdict.values.get("items") == items
