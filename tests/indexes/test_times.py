from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.indexes.times import is_before, utc

TIMES = st.datetimes(min_value=datetime(1971, 1, 1), timezones=st.timezones())  # noqa: DTZ001 - the zone is drawn


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2024-01-31T00:00:00Z", "2024-01-31T00:00:00Z"),
        ("2024-01-31t00:00:00.100000z", "2024-01-31T00:00:00.1Z"),
        ("2024-01-31T00:00:00.000Z", "2024-01-31T00:00:00Z"),
        ("2024-01-31 01:00:00+01:00", "2024-01-31T00:00:00Z"),
        ("2024-01-31T00:00:00.123456789Z", "2024-01-31T00:00:00.123456Z"),
        ("2024-01-31T00:00:00", ""),
        ("2024-01-31", ""),
        ("20240131T000000Z", ""),
        ("2024-02-30T00:00:00Z", ""),
        ("0001-01-01T00:00:00+23:00", ""),
        ("today", ""),
        (3, ""),
    ],
)
def test_times_in_utc(text: object, time: str) -> None:
    assert utc(text) == time


@given(TIMES, TIMES)
def test_they_are_in_the_order_of_time(first: datetime, second: datetime) -> None:
    one, other = (utc(when.astimezone(UTC).isoformat()) for when in (first, second))
    assert is_before(one, other) == (first.astimezone(UTC) < second.astimezone(UTC))
    assert (one == other) == (first.astimezone(UTC) == second.astimezone(UTC))
