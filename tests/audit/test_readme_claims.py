"""The claims files of the README's tables say what the README says."""

from audit.readme_claims import ROOT, claims_files


def test_the_claims_are_the_readmes() -> None:
    """Every number of the tables and the sentences below; run readme_claims.py to renew them."""
    for path, content in claims_files((ROOT / "README.md").read_text("utf-8")).items():
        assert path.read_text("utf-8") == content
