"""JSON by the parts that `json` has in C: values, texts and errors are those of `json`."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from sisyphus.ground import quick_json

TEXTS = (
    "", " ", "\t\n\r 1 \r\n", "\u00a01", "\x0b1", "\f1", "1\0", "\ufeff1", "{}", "[]", " [ ] ",
    "nul", "nulll", "null true", "-", "-0", "-0.0", "01", "1.", ".5", "1e", "1e5", "1E-400",
    "1e400", "-1e400", "NaN", "Infinity", "-Infinity", "-NaN", "nan", "9" * 400, "9" * 5_000,
    '{"a":1,"a":2,"b":{"a":3,"a":4}}', '{"a":1,}', "[1,]", "{1:2}", "{'a':1}", '{"a" 1}', '{"a":}',
    '"\\ud83d\\ude00"', '"\\ud83d"', '"\ud83d"', '"\\udc00\\ud83d"', '"\\u12"', '"\\x"', '"a\nb"',
    '"\x00"', '"\x7f\u2028"', '"', '"\\', "[" * 90 + "]" * 90, "[1] x", "[1]]", "// 1", "tru",
    ' {"a": [1, 2.5, "x", null, true, false]} ',
)  # fmt: skip

DATA = (
    b"", b" ", b"\0", b"1", b"[1]", b"1\0", b"\0001", b'"\xc3\xa9"', b'"\xc3"', b'"\xff"',
    b'"\xed\xa0\xbd"', "\ufeff[1]".encode(), b"\xef\xbb\xbf", b"\xff\xfe", "é".encode(),
    *(text.encode(name) for text in ("[1]", '"é😀"', "1", '{"a": 1}') for name in (
        "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le",
        "utf-32-be", "latin-1",
    ) if name != "latin-1" or text.isascii()),
)  # fmt: skip

CHARACTERS = 'ab"\\/\b\f\n\r\t\0\x1f\x7fé\u2028\ufeff\ud83d\udc00😀{}[]:, 0'


def outcome(work: Callable[..., object], *values: Any, **options: Any) -> str:
    """What a call returns, or how it fails."""
    try:
        return repr(work(*values, **options))
    except (ValueError, TypeError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"


def some_text(dice: random.Random) -> str:
    return "".join(dice.choices(CHARACTERS, k=dice.randrange(8)))


def some_value(dice: random.Random, depth: int = 0) -> object:
    kind = dice.randrange(9 if depth < 4 else 7)
    if kind == 7:
        return [some_value(dice, depth + 1) for _ in range(dice.randrange(4))]
    if kind == 8:
        names: tuple[object, ...] = (some_text(dice), some_text(dice), 1, 2.5, None, True)
        return {dice.choice(names): some_value(dice, depth + 1) for _ in range(dice.randrange(4))}
    numbers = (0, -1, 10 ** dice.randrange(30), dice.uniform(-1e9, 1e9), 5e-324, 1e308)
    odd = (math.inf, -math.inf, math.nan, -0.0, (1, "a"), (), b"x", {1}, 1j)
    return (None, True, False, some_text(dice), some_text(dice), dice.choice(numbers),
            dice.choice(odd) if dice.random() < 0.2 else 1)[kind]  # fmt: skip


def mutated(dice: random.Random, text: str) -> str:
    """A text with a character more, less, or another one."""
    at = dice.randrange(len(text) + 1)
    word = dice.choice(["", dice.choice(CHARACTERS), "e", ".", "-", "NaN", "null", "\\u", "  "])
    return text[:at] + word + text[at + dice.randrange(3) :]


@pytest.mark.parametrize("text", [*TEXTS, *DATA], ids=ascii)
def test_it_reads_what_json_reads(text: str | bytes) -> None:
    assert outcome(quick_json.loads, text) == outcome(json.loads, text)


@pytest.mark.parametrize("count", [3_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_it_reads_and_writes_as_json_does(count: int) -> None:
    dice = random.Random(count)
    for _ in range(count):
        value = some_value(dice)
        is_ascii = dice.random() < 0.5
        written = outcome(quick_json.dumps, value, ensure_ascii=is_ascii)
        assert written == outcome(json.dumps, value, ensure_ascii=is_ascii)
        pretty = outcome(json.dumps, value, indent=2, ensure_ascii=False)
        assert outcome(quick_json.pretty, value) == pretty
        assert outcome(quick_json.dumps, value, default=str) == outcome(
            json.dumps, value, default=str
        )
        text = json.dumps(value, default=str, ensure_ascii=is_ascii)
        for each in (text, mutated(dice, text), mutated(dice, mutated(dice, text))):
            data = each.encode("utf-8", "surrogatepass")
            assert outcome(quick_json.loads, each) == outcome(json.loads, each)
            assert outcome(quick_json.loads, data) == outcome(json.loads, data)


def test_an_error_says_where_it_is() -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        quick_json.loads(' \n{"a": x}')

    assert (caught.value.lineno, caught.value.colno) == (2, 7)


@pytest.mark.parametrize("work", [quick_json.loads, json.loads])
@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000], ids=["lists", "objects"])
def test_what_is_too_deep_is_refused(work: Callable[[str], object], text: str) -> None:
    with pytest.raises(RecursionError):
        work(text)


def test_a_value_in_itself_is_refused() -> None:
    value: list[object] = []
    value.append([value])

    assert outcome(quick_json.dumps, value) == outcome(json.dumps, value)


def test_after_an_error_it_works_as_before() -> None:
    for _ in range(3):
        with pytest.raises(ValueError):
            quick_json.loads('{"a": [1, {"b": x')
        with pytest.raises(TypeError):
            quick_json.dumps([{"a": object()}])
        assert quick_json.loads(quick_json.dumps({"a": [1]})) == {"a": [1]}


OTHER_PYTHONS = {
    "none": "sys.modules['_json'] = None",
    "no encoder": "import _json; del _json.make_encoder",
    "another encoder": "import _json; _json.make_encoder = lambda one: one",
    "another scanner": "import _json; _json.make_scanner = lambda: None",
}


@pytest.mark.parametrize("change", OTHER_PYTHONS.values(), ids=OTHER_PYTHONS)
def test_without_these_parts_json_does_the_work(change: str) -> None:
    done = python(
        f"import sys; {change}\n"
        "from sisyphus.ground import quick_json as q\n"
        "q.loads, q.dumps  # both are there\n"
        "sys.modules['_json'] = None\n"
        "print(q._has_parts, q.loads(b' [1, \"a\"] '), q.dumps({'é': [1.5]}),"
        " q.dumps(['é'], ensure_ascii=False), q.dumps([1j], default=str), q.pretty([1, {}]))\n"
        "try: q.dumps([1j])\n"
        "except TypeError as error: print(error)\n"
        "try: q.loads('x')\n"
        "except ValueError as error: print(error)\n"
    )

    assert done.splitlines() == [
        'False [1, \'a\'] {"\\u00e9": [1.5]} ["é"] ["1j"] [',
        "  1,",
        "  {}",
        "]",
        "Object of type complex is not JSON serializable",
        "Expecting value: line 1 column 1 (char 0)",
    ]


def python(text: str, *options: str) -> str:
    """What a Python prints that runs this text."""
    command = [sys.executable, *options, "-X", "utf8", "-c", text]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_store_loads_no_functools() -> None:
    done = python(
        "import sys; from sisyphus.ground.store import sqlite\n"
        "print('functools' in sys.modules)\n"
        "db = sqlite.connect(':memory:')\n"
        "for n in range(300): assert db.execute(f'SELECT {n} + ?', (1,)).fetchone() == (n + 1,)\n"
        "import functools, sqlite3\n"
        "print(functools.cache.__name__, sqlite3.Error is sqlite.Error)\n"
    )

    assert done.split() == ["False", "cache", "True"]


@pytest.mark.parametrize(
    "before",
    [
        "import functools",
        "sys.modules['_functools'] = None",
        "import _functools; del _functools._lru_cache_wrapper",
        "import _thread, time; _thread.start_new_thread(time.sleep, (9,))\n"
        "while not _thread._count(): time.sleep(0.001)",
        "class Odd:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == '_sqlite3': from functools import reduce\n"
        "sys.meta_path.insert(0, Odd())",
    ],
    ids=["loaded", "no part", "no wrapper", "a thread", "a finder that needs it"],
)
def test_where_functools_cannot_be_spared_the_store_has_it(before: str) -> None:
    done = python(
        f"import sys\n{before}\n"
        "from sisyphus.ground.store import sqlite\n"
        "print(sys.modules['functools'].reduce.__name__)\n"
        "print(*sqlite.connect(':memory:').execute('SELECT 1').fetchone())\n"
    )

    assert done.split() == ["reduce", "1"]


def test_partial_is_that_of_functools() -> None:
    text = (
        "import functools, sys; sys.modules['_functools'] = {}\n"
        "from sisyphus.ground.partial import partial\n"
        "print(partial is functools.partial, partial(max, 1)(2))\n"
    )

    found = [python(text.format(word)) for word in ("sys.modules['_functools']", "None")]

    assert [each.split() for each in found] == [["True", "2"]] * 2


@pytest.mark.parametrize(
    "text", ['{"a": "cut', '{"a" 1}', '"\\\\ud8', '"\\x01"', '{"a": 1, "b', "[1,"]
)
def test_where_nobody_has_loaded_json_an_error_is_one_of_values(text: str) -> None:
    """As in a hook that reads a line which the client has not finished. Python 3.11 names the error
    only if `json` is there, and else raises SystemError."""
    code = (
        "import sys; from sisyphus.ground import quick_json; assert 'json' not in sys.modules\n"
        f"try: quick_json.loads({text!r})\n"
        "except ValueError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    with pytest.raises(ValueError, match=r".") as expected:
        json.loads(text)
    assert (done.stdout.strip(), done.stderr) == (str(expected.value), "")
