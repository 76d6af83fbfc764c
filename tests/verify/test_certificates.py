"""Certificates are exact, canonical and named by their own hash."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.certificates import Seal, canonical, matrix, number, sealed
from verify.errors import CertificateError
from verify.rational import Matrix

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda part: st.one_of(
        st.lists(part, max_size=3), st.dictionaries(st.text(max_size=3), part, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON)
def test_canonical_text_is_one_ascii_line_that_reads_back(value: Any) -> None:
    text = canonical(value)
    assert json.loads(text) == value
    assert text.isascii()
    assert text.count(b"\n") == 1
    assert text.endswith(b"\n")


@given(st.dictionaries(st.text(max_size=3), st.integers(), max_size=5))
def test_the_order_of_keys_does_not_matter(value: dict[str, int]) -> None:
    assert canonical(value) == canonical(dict(reversed(value.items())))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [0.5]}, r"certificate\.a\[0\] must hold exact numbers, got 0\.5; write 'p/q'"),
        ({"a": float("nan")}, r"certificate\.a must hold finite numbers, got nan"),
        ([float("inf")], r"certificate\[0\] must hold finite numbers, got inf"),
        ({1: 2}, "certificate must have string keys, got 1"),
    ],
)
def test_what_is_not_exact_is_refused_with_its_place(value: Any, message: str) -> None:
    with pytest.raises(CertificateError, match=message):
        canonical(value)


@given(st.fractions())
def test_numbers_are_texts_that_read_back(value: Fraction) -> None:
    assert Fraction(number(value)) == value


def test_a_matrix_is_written_row_by_row() -> None:
    assert matrix(Matrix.from_rows([[1, Fraction(-1, 2)], [0, 3]])) == [["1", "-1/2"], ["0", "3"]]


SEAL = Seal(
    claim="paper.theorem",
    statement="It holds.",
    construction="c" * 64,
    check=1,
    method="witness",
    scope="one object",
    profile="quick",
    seed=0,
)


def test_a_certificate_is_named_by_the_hash_of_its_bytes() -> None:
    name, data = sealed(SEAL, {"kind": "witness", "instances": [1]})
    assert name == sha256(data).hexdigest()
    inputs = b'{"check":1,"method":"witness","profile":"quick","scope":"one object","seed":0}\n'
    assert json.loads(data) == {
        "schema": "certiformer/certificate/2",
        "kind": "witness",
        "claim": "paper.theorem",
        "statement": sha256(b"It holds.").hexdigest(),
        "construction": "c" * 64,
        "inputs": sha256(inputs).hexdigest(),
        "content": {"instances": [1]},
    }


@pytest.mark.parametrize(
    "change",
    [
        {"claim": "paper.lemma"},
        {"statement": "It holds not."},
        {"construction": "d" * 64},
        {"check": 2},
        {"method": "exhaustive"},
        {"scope": "two objects"},
        {"profile": "deep"},
        {"seed": 1},
    ],
)
def test_whatever_a_certificate_belongs_to_changes_its_name(change: dict[str, Any]) -> None:
    content = {"kind": "witness", "instances": [1]}
    assert sealed(replace(SEAL, **change), content)[0] != sealed(SEAL, content)[0]
