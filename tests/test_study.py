"""study.toml: a mistake is told with its file, its line, what was expected and what was found."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from study_text import study_text

from harness.cli import main
from harness.errors import UsageError
from harness.study.folder import Study, find_study

URL = "http://127.0.0.1:1"
BROKEN_URLS = (
    "http://[::1/v1", "http://127.0.0.2:9:43685/v1", "http:///v1", "http://exa mple/v1",
    "http://host:99999/v1", "http://host:0/v1", "http://a..b/v1", "http://xn--/v1",
    f"http://{'a' * 64}/v1", "http://host:port/v1",
)  # fmt: skip
A_MODEL = 'model = "subject-a"'


def write(root: Path, text: str) -> Path:
    folder = root / "cassettes" / "mine"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("seed = 7", "seed = -7", ["line 4", "seed", "-7"]),
        ("seed = 7", "sead = 7", ["line 4", "sead"]),
        ("seed = 7", "", ["seed", "required"]),
        ('protocol = "ddft"', 'protocol = "dddt"', ["line 2", "protocol", "dddt"]),
        ("levels = [0.0, 0.5, 1.0]", "levels = [0.0, 1.5]", ["ddft.levels.1", "1.5"]),
        ("levels = [0.0, 0.5, 1.0]", "levels = [0.5, 0.5]", ["levels", "twice"]),
        ("[ddft]", "[ddft]\nrepeats = 1000000000", ["6000000000 cells", "at most 1000000"]),
        ("title = ", f"about = '{' ' * 2**24}'\ntitle = ", ["larger than 16777216 bytes"]),
        (
            '"judge-b", "judge-c"]',
            '"judge-b", "judge-z"]',
            ["judge-z", "[models.judge-z]", "judge-a"],
        ),
        ('model = "judge-c"', "", ["models.judge-c.model"]),
        ("[ddft]", "[ddft", ["not TOML"]),
        ("http://", "ftp://", ["base_url"]),
        ("as_of = 2026-01-31", "as_of = 'soon'", ["line 3", "as_of", "soon"]),
        *(
            (A_MODEL, f"{A_MODEL}\n{line}", ["line 9", *told])
            for line, told in (
                ('headers = { Authorization = "Bearer x" }', ["'Authorization'", "api_key_env"]),
                ('headers = { x-team-key = "x" }', ["headers", "'x-team-key'", "api_key_env"]),
                ('headers = { "x team" = "x" }', ["'x team'", "no name of a header"]),
                ('headers = { host = "x" }', ["'host'", "leave it out"]),
                ('headers = { x-team = "caf\\u00e9" }', ["'x-team'", "printable ASCII"]),
                ("headers = { x-team = 1 }", ["headers.x-team", "string"]),
                ('headers = { x-team = "1", X-Team = "2" }', ["stands twice"]),
                ('query = { token = "x" }', ["query", "'token'", "api_key_env"]),
                ('query = { "subscription-key" = "x" }', ["'subscription-key'", "api_key_env"]),
                ("query = { api-version = 1 }", ["query.api-version", "string"]),
                ('key_header = "x-team"\napi_key_env = "K"', ["key_header", "'x-team'", "api-key"]),
                ('served_as = "x"', ["served_as", "list"]),
            )
        ),
        (A_MODEL, f'{A_MODEL}\nkey_header = "api-key"', ["line 6", "api_key_env"]),
        ("/v1", "/models?api-version=1", ["line 7", "base_url", "query = {"]),
        *(
            (f"{URL}/v1", url, ["line 7", "models.subject-a.base_url", url, "expected one like"])
            for url in BROKEN_URLS
        ),
        *(
            ("[ddft]", f'[ddft]\nrubrics = "separate"\nscoring = {scoring}', ["line", *told])
            for scoring, told in (
                ('"verdict"', ["ddft", 'rubrics = "separate"', "'judge-a'", 'scoring = "verdict"']),
                ('{ judge-b = "verdict" }', ["'judge-b'", "leave out one of the two"]),
            )
        ),
        *(
            ("[ddft]", f"[ddft.cuts]\n{line}\n[ddft]", ["line 3", "ddft.cuts", *told])
            for line, told in (
                ("incoherent_below = 1.5", ["incoherent_below", "1.5"]),
                ("factual_above = 'x'", ["factual_above", "'x'"]),
                ("robust_above = 0.2", ["competent_above 0.3 lies above robust_above 0.2"]),
                ("robust = 0.2", ["robust"]),
            )
        ),
    ],
)
def test_a_mistake_is_told_with_its_place(
    tmp_path: Path, old: str, new: str, told: list[str]
) -> None:
    """The message names the file, the key or the line, and what stands there."""
    text = study_text(URL)
    assert old in text
    folder = write(tmp_path, text.replace(old, new))
    with pytest.raises(UsageError) as caught:
        Study(folder)
    for word in ["study.toml", *told]:
        assert word in str(caught.value)


def test_a_mistake_is_exit_2_without_a_traceback(tmp_path: Path) -> None:
    """The command says what is wrong and nothing of Python's."""
    write(tmp_path, study_text(URL).replace("seed = 7", "seed = 'x'"))
    for words in (["record", "mine"], ["replay", "mine"], ["ls"], ["show", "mine"]):
        done = CliRunner().invoke(main, [*words, "--root", str(tmp_path)])
        assert done.exit_code == 2
        assert "line 4: seed" in done.output
        assert "Traceback" not in done.output


@pytest.mark.parametrize("url", BROKEN_URLS)
def test_an_address_that_is_none_is_an_error_of_the_file(tmp_path: Path, url: str) -> None:
    """Whatever would send to it ends with exit code 2, the file and the line, before any call."""
    write(tmp_path, study_text(URL).replace(f"{URL}/v1", url))
    for words in (["record", "mine", "--dry-run"], ["record", "mine"], ["check", "mine"]):
        done = CliRunner().invoke(main, [*words, "--root", str(tmp_path)])
        assert done.exit_code == 2
        assert "study.toml" in done.output
        assert "line 7" in done.output
        assert isinstance(done.exception, SystemExit)


@pytest.mark.parametrize(
    "url", ["http://[::1]:8000/v1", "http://gpu_1:8000/v1", "https://b\u00fccher.example/v1"]
)
def test_an_address_may_be_any_that_can_be_sent_to(tmp_path: Path, url: str) -> None:
    """IPv6, a name with an underscore as containers have, a name beyond ASCII."""
    Study(write(tmp_path, study_text(URL).replace(f"{URL}/v1", url)))


def test_an_unknown_study_is_told(tmp_path: Path) -> None:
    """A study that is not there is exit 2, with what to do."""
    (tmp_path / "cassettes").mkdir()
    done = CliRunner().invoke(main, ["replay", "nothing", "--root", str(tmp_path)])
    assert done.exit_code == 2
    assert "harness ls" in done.output


def test_an_unrecorded_study_is_told(tmp_path: Path) -> None:
    """A study without materials has never been recorded; the message says how to."""
    write(tmp_path, study_text(URL))
    done = CliRunner().invoke(main, ["replay", "mine", "--root", str(tmp_path)])
    assert done.exit_code == 2
    assert "harness record mine" in done.output


def test_another_protocol_version_names_the_release(recorded: Path) -> None:
    """Materials of a protocol this release does not run name the release that does."""
    materials = recorded / "cassettes/small/materials.json"
    text = materials.read_text().replace('"protocol_version": 2', '"protocol_version": 99')
    materials.write_text(text.replace('"harness_version": "0.1.0"', '"harness_version": "7.7"'))
    words = ["replay", "small", "--no-verify-checksums", "--root", str(recorded)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert "Install harness 7.7" in done.output


def test_what_decides_nothing_is_not_in_the_identity(tmp_path: Path) -> None:
    """Workers, limits, titles and the harness version may change between two sessions."""
    materials = b'{"harness_version": "1", "prompts": {}}'
    first = Study(write(tmp_path, study_text(URL))).identity(materials)
    text = study_text(URL, extra="\n[record]\nworkers = 9\n").replace("A small", "Another")
    text = text.replace('model = "judge-a"', 'model = "judge-a"\nconcurrency = 9\ntimeout = 3')
    newer = materials.replace(b'"1"', b'"2"')
    assert Study(write(tmp_path, text)).identity(newer) == first
    assert Study(write(tmp_path, text.replace("seed = 7", "seed = 8"))).identity(newer) != first
    assert Study(write(tmp_path, text)).identity(newer.replace(b"{}", b'{"a": ""}')) != first


def test_settings_that_are_the_default_are_not_in_the_identity(tmp_path: Path) -> None:
    """A study begun before a setting existed goes on; another value makes it another study."""
    plain = Study(write(tmp_path, study_text(URL))).identity(b"{}")
    default = "[ddft.cuts]\nrobust_above = 0.6\n"
    assert Study(write(tmp_path, study_text(URL, extra=default))).identity(b"{}") == plain
    other = "[ddft.cuts]\nrobust_above = 0.7\n"
    assert Study(write(tmp_path, study_text(URL, extra=other))).identity(b"{}") != plain
    for line, same in (
        ("headers = {}\nquery = {}\nserved_as = []", True),
        ('served_as = ["x"]', True),
        ('headers = { x-team = "blue" }', False),
        ('query = { tier = "batch" }', False),
    ):
        text = study_text(URL).replace(A_MODEL, f"{A_MODEL}\n{line}")
        assert (Study(write(tmp_path, text)).identity(b"{}") == plain) is same, line


def test_a_study_is_found_by_name_from_inside_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nearest folder upwards that holds cassettes/ is the root."""
    folder = write(tmp_path, study_text(URL))
    monkeypatch.chdir(folder)
    assert find_study("mine", None).folder == folder.resolve()


def test_names_that_differ_only_in_case_get_files_of_their_own(tmp_path: Path) -> None:
    """Two subjects that a file system may confuse have distinct cassettes."""
    text = study_text(URL, subjects=("Model-A", "model-a", "model-a."))
    study = Study(write(tmp_path, text))
    names = {study.cassette(cell).name.lower() for cell in study.cells()}
    assert len(names) == len(study.cells()) == 9
