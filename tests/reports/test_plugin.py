"""Claims are tests of pytest's: collected where asked for, settled once, failing in plain words."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

Claims = Callable[..., Path]

WRONG = """
@stated("wrong.base", "Every number below 9 is what it should be.")
def base():
    return [covers(some(range(9), fails=3))]


@stated("wrong.above", uses=("wrong.base",))
def above():
    return [covers(some(range(5)))]


@stated("wrong.weak", expected=Status.PROVED)
def weak():
    return [covers(some(range(5)))]


@stated("wrong.empty")
def empty():
    return [covers(some(()))]


@stated("wrong.right")
def right():
    return [covers(some(range(5)))]
"""
FAILURE = ("Traceback", "plugin.py", "running.py")
"""What a reader of a failed claim must not see."""


def ran(pytester: pytest.Pytester, *arguments: object) -> pytest.RunResult:
    return pytester.runpytest_subprocess(
        *map(str, arguments), "--certiformer-profile", "quick", timeout=90
    )


def package(pytester: pytest.Pytester) -> Path:
    """A package of two modules, one of which uses a claim of the other."""
    folder = pytester.mkpydir("paper")
    (folder / "numbers.py").write_text("BOUND = 9\n", encoding="utf-8")
    for name, uses in (("one", ()), ("two", ("paper.one",))):
        (folder / f"{name}.py").write_text(
            f"""
from certiformer import Exhaustive, Range, Source, Status, claim, covers
from .numbers import BOUND

RANGE = Range(bound="n < 9", over=lambda: range(BOUND))
RANGES = {{"quick": RANGE, "standard": RANGE, "deep": RANGE}}


@claim(id="paper.{name}", source=Source("paper", "1"), latex="n", scope="n < 9",
       expected=Status.BOUNDED, uses={uses!r})
def stated():
    "It holds."
    return [covers(Exhaustive(holds=lambda n: None, ranges=RANGES, exhibit=int))]
""",
            encoding="utf-8",
        )
    return folder


def test_each_claim_of_a_file_is_a_test_named_by_its_id(
    pytester: pytest.Pytester, claims: Claims, good: str
) -> None:
    done = ran(pytester, "--certiformer", claims(good), "-v")
    done.assert_outcomes(passed=3)
    done.stdout.fnmatch_lines(
        [f"*mine.py::good.{name} PASSED*" for name in ("one", "three", "two")]
    )
    assert done.ret == pytest.ExitCode.OK


def test_a_claim_that_falls_short_fails_in_plain_words(
    pytester: pytest.Pytester, claims: Claims
) -> None:
    path = claims(WRONG)
    done = ran(pytester, "--certiformer", path)
    done.assert_outcomes(passed=1, failed=4)
    done.stdout.fnmatch_lines(
        [
            "*_ claim wrong.above _*",
            "wrong.above: REFUTED, BOUNDED is expected",
            "wrong.above: uses wrong.base, which is REFUTED",
            "*_ claim wrong.base _*",
            "wrong.base: REFUTED, BOUNDED is expected",
            "  Every number below 9 is what it should be.",
            "wrong.base: check 0 (exhaustive) REFUTED: 3 is not what it should be",
            "wrong.base: counterexample after 4 examples",
            '  {"n": 3}',
            "reproduce: certiformer verify *mine.py --profile quick",
            "*_ claim wrong.empty _*",
            "wrong.empty: UNKNOWN, BOUNDED is expected",
            "wrong.empty: check 0 (exhaustive) UNKNOWN: *nothing was checked",
            "*_ claim wrong.weak _*",
            "wrong.weak: BOUNDED, PROVED is expected",
            "wrong.weak: check 0 (exhaustive) BOUNDED: its method reaches no further",
        ]
    )
    assert not any(word in done.stdout.str() for word in FAILURE)


def test_the_command_that_a_failure_names_reproduces_it(
    pytester: pytest.Pytester, claims: Claims
) -> None:
    path = claims("""
        @stated("wrong.base")
        def base():
            return [covers(some(range(9), fails=3))]
        """)
    done = ran(pytester, "--certiformer", path)
    (line,) = {line for line in done.outlines if line.startswith("reproduce: certiformer ")}
    command = line.removeprefix("reproduce: ").split()
    assert command[0] == "certiformer"
    run = (sys.executable, "-m", "reports.cli", *command[1:], "--out", "out")
    again = pytester.run(*run, timeout=60)
    assert again.ret == 1
    again.stdout.fnmatch_lines(["wrong.base: check 0 (exhaustive) REFUTED: 3 is not what*"])


def test_what_several_claims_use_is_settled_once(pytester: pytest.Pytester, claims: Claims) -> None:
    path = claims(
        """
        from pathlib import Path

        def counted():
            with open(Path(__file__).with_name("settled"), "a") as file:
                file.write("once\\n")
            return range(3)

        @stated("used.base")
        def base():
            ranges = {p: Range(bound="n < 3", over=counted) for p in ("quick", "standard", "deep")}
            return [covers(Exhaustive(holds=lambda n: None, ranges=ranges, exhibit=int))]

        @stated("used.first", uses=("used.base",))
        def first():
            return [covers(some(range(2)))]

        @stated("used.second", uses=("used.base", "used.first"))
        def second():
            return [covers(some(range(2)))]
        """
    )
    ran(pytester, "--certiformer", path).assert_outcomes(passed=3)
    assert path.with_name("settled").read_text() == "once\n"


def test_claims_are_selected_by_words_and_by_node_ids(pytester: pytest.Pytester) -> None:
    package(pytester)
    done = ran(pytester, "--certiformer", "paper", "-k", "paper.two", "-v")
    done.assert_outcomes(passed=1, deselected=1)
    done = ran(pytester, "--certiformer", "paper", "paper/one.py::paper.one", "-v")
    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["paper/one.py::paper.one PASSED*"])


def test_a_line_of_configuration_makes_a_package_s_claims_tests(pytester: pytest.Pytester) -> None:
    folder = package(pytester)
    (folder / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\ncertiformer = "."\n', encoding="utf-8"
    )
    pytester.makepyfile(test_other="def test_other():\n    assert True\n")
    ran(pytester, "paper").assert_outcomes(passed=2)
    ran(pytester, "paper", "-n", "2").assert_outcomes(passed=2)
    ran(pytester, "test_other.py", "--certiformer", "paper").assert_outcomes(passed=3)


BROKEN = {
    "crashes": ("\n\n1 / 0\n", "got ZeroDivisionError: division by zero; *crashes.py:3)"),
    "does_not_parse": ("\n\ndef f(:\n", "got SyntaxError: *does_not_parse.py:3)"),
    "exits": ("import sys\nsys.exit(3)\n", "got SystemExit: 3; *exits.py:2)"),
    "states_none": ("n = 1\n", "must state at least one, got none; *"),
}


def test_a_broken_file_is_an_error_of_collection_that_names_it(
    pytester: pytest.Pytester, claims: Claims, good: str
) -> None:
    for name, (text, _) in BROKEN.items():
        (pytester.path / f"{name}.py").write_text(text, encoding="utf-8")
    options = [f"--certiformer={name}.py" for name in BROKEN]
    done = ran(pytester, *options, "--certiformer", claims(good), "--continue-on-collection-errors")
    done.assert_outcomes(errors=4, passed=3)
    for name, (_, words) in BROKEN.items():
        done.stdout.fnmatch_lines([f"*ERROR collecting *{name}.py _*", f"*{name}.py: *{words}"])
    assert not any(word in done.stdout.str() for word in FAILURE)


def test_a_package_that_cannot_be_loaded_is_one_error(pytester: pytest.Pytester) -> None:
    folder = package(pytester)
    (folder / "two.py").write_text("from .absent import nothing\n", encoding="utf-8")
    done = ran(pytester, "--certiformer", "paper")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*paper: must import without an error, *two.py:1)"])


def test_a_path_that_is_not_there_is_wrong_usage(pytester: pytest.Pytester) -> None:
    done = ran(pytester, "--certiformer", "absent.py")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["ERROR: --certiformer *absent.py: must exist, got no such path"])


def test_nothing_is_loaded_where_no_claims_are_asked_for(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_other="""
        import sys

        def test_other(request):
            assert request.config.pluginmanager.has_plugin("certiformer")
            assert not {"verify", "reports", "constructions", "typer"} & sys.modules.keys()
        """
    )
    done = pytester.runpytest_subprocess("-p", "no:hypothesispytest", timeout=60)
    done.assert_outcomes(passed=1)


def test_a_project_with_a_package_called_as_one_of_ours_runs_its_tests(
    pytester: pytest.Pytester,
) -> None:
    for name in ("reports", "verify"):
        pytester.mkpydir(name)
    pytester.makepyfile(test_own="import reports, verify\ndef test_own(): pass\n")
    done = pytester.run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", timeout=60)
    done.assert_outcomes(passed=1)
