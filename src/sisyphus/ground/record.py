"""The base of our values: a class whose fields are its annotations.

`dataclasses` does the same, but loads `inspect`, and compiles a constructor for each class. That
would be a third of what a hook costs at a Stop. Type checkers take a `Record` for a dataclass.
"""

from __future__ import annotations

__all__ = ["Record", "asdict", "field", "replace"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import replace
    from typing import Any, ClassVar, TypeVar, dataclass_transform

    T = TypeVar("T")

    def field(*, default_factory: Callable[[], T]) -> T: ...

else:

    class field:
        """The default of a field, which each value makes for itself when it is first asked for.
        Lower case, as in `dataclasses`."""

        def __init__(self, *, default_factory):
            self._factory = default_factory

        def __set_name__(self, kind, name):
            self._name = name

        def __get__(self, value, kind=None):
            return self if value is None else value.__dict__.setdefault(self._name, self._factory())

    def dataclass_transform(**_):
        return lambda kind: kind


@dataclass_transform(field_specifiers=(field,))
class Record:
    """A value. Its fields are what its class annotates, and are given in that order, or by name.

        class Level(Record):
            percent: int
            names: list[str] = field(default_factory=list)

    Two are equal if they are of one class, and all their fields are equal. The type checker sees to
    it that all fields are given; one that is not raises `AttributeError` when it is read.

    frozen: the type checker lets nobody change a value. is_frequent: the constructor is compiled,
    so that it takes a fifth of the time; no default may be a `field`.
    """

    if TYPE_CHECKING:
        FIELDS: ClassVar[tuple[str, ...]]
    else:
        FIELDS = ()

    def __init_subclass__(cls, *, frozen: bool = False, is_frequent: bool = False) -> None:
        cls.FIELDS += tuple(cls.__annotations__)
        if is_frequent:
            cls.__init__ = _constructor(cls)  # type: ignore[method-assign]

    if not TYPE_CHECKING:

        def __init__(self, *values, **named):
            if named and (
                more := named.keys() - set(self.FIELDS)
            ):  # a row of the database may have any
                raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(more))}")
            self.__dict__.update(zip(self.FIELDS, values, strict=False), **named)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _values(self) == _values(other)

    def __hash__(self) -> int:
        return hash(tuple(_values(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_values(self)})"


def _constructor(kind: type[Record]) -> Callable[..., None]:
    """Compiles a constructor, as `dataclasses` does. That takes 0.1 ms."""
    names: dict[str, Any] = {"kind": kind}
    takes = (f"{name}=kind.{name}" if hasattr(kind, name) else name for name in kind.FIELDS)
    sets = (f"self.{name} = {name}" for name in kind.FIELDS)
    exec(f"def constructor(self, {', '.join(takes)}): {'; '.join(sets)}", names)
    constructor: Callable[..., None] = names["constructor"]
    return constructor


def asdict(value: Record) -> dict[str, Any]:
    """Returns a value as a dictionary of new lists and dictionaries, down to the last one."""
    return {name: _plain(each) for name, each in _values(value).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return asdict(value)
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return type(value)(map(_plain, value)) if isinstance(value, list | tuple) else value


def _values(value: Record) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.FIELDS}


if not TYPE_CHECKING:

    def replace(value, **changes):
        """Returns a copy of a value with other values in some fields, and without its cached
        properties."""
        known, copy = value.__dict__, object.__new__(type(value))
        own = {name: known[name] for name in value.FIELDS if name in known}
        copy.__dict__.update(own, **changes)
        return copy
