from __future__ import annotations

import pytest

from sisyphus.ralph import promise, tags

T = "<promise>X</promise>"

REASONS = [
    pytest.param(T, "", id="kept"),
    pytest.param(f"a {T} b\n{T}\na {T} b", "", id="one of several is enough"),
    pytest.param(f"a {T} b\n<promise>Y</promise>", "the tag says `Y`", id="the last one's reason"),
    pytest.param(f"<promise>Y</promise>\na {T} b", promise.IN_SENTENCE, id="not the first one's"),
    pytest.param("<promise>" + "Y" * 900 + "</promise>", "Y" * 80 + "`", id="a long one is cut"),
    pytest.param(f"`{T}`", promise.SHOWN, id="no tag that counts"),
    pytest.param("<promise>X", promise.MALFORMED, id="no whole tag"),
    pytest.param(f"</promise></promise>\n\n{T}", "", id="strays in other paragraphs"),
    pytest.param(f"<promise> <promise>\n\n{T}\n\n</promise>", promise.MALFORMED, id="two opened"),
    pytest.param(f"<promise>\n\n{T}\n\n{T}", "", id="an opened one, far away"),
    pytest.param(f"not {T}", "hold it back: `not`", id="held back"),
]


@pytest.mark.parametrize(("text", "reason"), REASONS)
def test_the_reason_is_that_of_the_last_tag(text: str, reason: str) -> None:
    found = tags.refusal(text, "X")

    assert found.endswith(reason)
    assert bool(found) == bool(reason)
