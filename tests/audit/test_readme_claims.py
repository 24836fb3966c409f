"""The claims file of the README's table says what the README says."""

from audit.readme_claims import FILE, ROOT, claims_text


def test_the_claims_are_the_readmes() -> None:
    """Every number of the table and the sentences below it; run readme_claims.py to renew it."""
    assert FILE.read_text("utf-8") == claims_text((ROOT / "README.md").read_text("utf-8"))
