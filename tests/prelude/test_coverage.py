"""What torch offers is modelled, apart from what is said not to be."""

import pytest

from tests.prelude.coverage import ABSTRACT, missing


@pytest.mark.parametrize("dotted", ABSTRACT)
def test_nothing_is_missing(dotted):
    assert not missing(dotted)
