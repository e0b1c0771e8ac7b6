"""Methods of a composed object that are those of its parts."""

from __future__ import annotations

import inspect
from typing import Protocol

import pytest

from pi_core.base.forwarding import attribute, forward, forward_by_name


class Engine:
    def __init__(self, power=1):
        self.power = power

    def start(self, times: int, *, choke: bool = False) -> str:
        """Start the engine."""
        return f"{self.power} {times} {choke}"


class Startable(Protocol):
    def start(self, times: int, *, choke: bool = False) -> str:
        """Start it."""
        ...


class Chassis:
    def __init__(self):
        self.engine = Engine()


class Car:
    def __init__(self):
        self.engine = Engine()
        self.chassis = Chassis()

    start = forward("engine", Engine.start)
    push_start = forward("chassis.engine", Engine.start)
    start_any = forward_by_name("engine", Startable.start)


def test_it_calls_the_part_that_is_there_now():
    car = Car()
    first = car.start(2, choke=True)
    car.engine = Engine(power=7)

    assert (first, car.start(3)) == ("1 2 True", "7 3 False")


def test_dots_lead_to_a_part_of_a_part():
    assert Car().push_start(1) == "1 1 False"


def test_signature_and_docstring_are_those_of_the_part():
    assert inspect.signature(Car.start) == inspect.signature(Engine.start)
    assert Car.start.__doc__ == "Start the engine."


def test_a_writable_attribute_is_written_to_the_part():
    class Part:
        name = "before"

    class Facade:
        name = attribute("part.name", "The part's name.", writable=True)
        fixed = attribute("part.name", "The same, read-only.")

        def __init__(self):
            self.part = Part()

    facade = Facade()
    facade.name = "after"

    assert facade.part.name == facade.name == facade.fixed == "after"
    with pytest.raises(AttributeError):
        facade.fixed = "never"


class Motor:
    def start(self, times, *, choke=False):
        return f"motor {times} {choke}"


def test_a_part_known_by_a_protocol_is_called_by_name():
    car = Car()
    start = car.start_any
    car.engine = Motor()

    assert start(2, choke=True) == "motor 2 True"
    assert Car.start_any.__doc__ == "Start it."
