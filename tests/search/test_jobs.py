"""The meaning of ``n_jobs``."""

import numpy as np
import pytest

from sges.errors import InvalidArgument
from sges.search.run import effective_jobs


def test_n_jobs_means_what_it_means_in_scikit_learn() -> None:
    from joblib import cpu_count, parallel_config

    assert effective_jobs(None) == 1
    assert effective_jobs(5) == effective_jobs(np.int64(5)) == 5  # type: ignore[arg-type]
    assert effective_jobs(-1) == cpu_count()
    with parallel_config(n_jobs=3):
        assert effective_jobs(None) == 3


@pytest.mark.parametrize("wrong", [0, 1.5, "2", True])
def test_other_numbers_of_jobs_are_refused(wrong: object) -> None:
    with pytest.raises(InvalidArgument, match="n_jobs"):
        effective_jobs(wrong)  # type: ignore[arg-type]


def test_no_more_jobs_are_started_than_can_be_of_use() -> None:
    workers = max(effective_jobs(-1), 8)
    assert effective_jobs(10**30) == workers
    assert [effective_jobs(jobs) for jobs in (1, 2, 8)] == [1, 2, 8]
