"""A study file for the deterministic provider."""


def study_text(
    url: str,
    *,
    subjects: tuple[str, ...] = ("subject-a", "subject-b"),
    concepts: tuple[str, ...] = ("harm-principle",),
    levels: str = "[0.0, 0.5, 1.0]",
    extra: str = "",
) -> str:
    """Give the text of a study.toml with an interviewer and three judges at one address."""
    names = [*subjects, "interviewer", "judge-a", "judge-b", "judge-c"]
    models = "".join(
        f'[models."{name}"]\nbase_url = "{url}/v1"\nmodel = "{name}"\n\n' for name in names
    )
    return (
        f'title = "A small study"\nprotocol = "ddft"\nas_of = 2026-01-31\nseed = 7\n\n{models}'
        f'[ddft]\nsubjects = {list(subjects)}\ninterviewer = "interviewer"\n'
        f'jury = ["judge-a", "judge-b", "judge-c"]\nconcepts = {list(concepts)}\n'
        f"levels = {levels}\n{extra}"
    )
