"""Claims as tests, for pytest: a test for each claim, named by its id.

    pytest --certiformer NAME      the claims of a file or a package folder, beside other tests
    certiformer = "NAME"           in pytest's configuration: the same wherever they are collected

Every run of pytest loads this module, and nothing else of ours unless it is asked for claims: a
project of its own may have a package that is called as one of ours.
"""

from __future__ import annotations

import pytest

NAME = "certiformer"
PROFILES = ("quick", "standard", "deep")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Two options, and a line in pytest's configuration."""
    group = parser.getgroup(NAME, "claims as tests")
    group.addoption(
        "--certiformer",
        action="append",
        default=[],
        metavar="PATH",
        help="Python file or package folder whose claims are tests too; may be given again",
    )
    group.addoption(
        "--certiformer-profile",
        choices=PROFILES,
        default="standard",
        help="how much is checked of each claim (default: standard)",
    )
    parser.addini(NAME, "files and package folders whose claims are tests", "paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Collect claims only where some are asked for."""
    if config.getoption("--certiformer") or config.getini(NAME):
        from reports.plugin import collect_claims

        collect_claims(config)
