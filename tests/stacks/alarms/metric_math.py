"""Evaluates the metric math of an alarm, as far as our alarms use it.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
"""

import ast
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

Series = Mapping[int, float]
"""Values by their minute; a minute without a datapoint is not there."""

_OPERATORS: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Div: operator.truediv,
}


class NotModelled(Exception):
    """The expression uses something whose behaviour is not documented, or not needed so far."""


class MetricMath:
    def __init__(self, metrics: Iterable[Mapping[str, Any]]) -> None:
        entries = list(metrics)
        (self._returned,) = (one["Id"] for one in entries if one.get("ReturnData", True))
        self._names = {
            one["Id"]: one["MetricStat"]["Metric"]["MetricName"]
            for one in entries
            if "MetricStat" in one
        }
        self._expressions = {
            one["Id"]: ast.parse(one["Expression"], mode="eval").body
            for one in entries
            if "Expression" in one
        }

    def evaluate(self, datapoints: Mapping[str, Series], minutes: range) -> Series:
        """Return the expression's series over `minutes`, from datapoints by their metric's name."""
        return _Evaluation(self._names, self._expressions, datapoints, minutes).of(self._returned)


class _Evaluation:
    def __init__(
        self,
        names: Mapping[str, str],
        expressions: Mapping[str, ast.expr],
        datapoints: Mapping[str, Series],
        minutes: range,
    ) -> None:
        self._names = names
        self._expressions = expressions
        self._datapoints = datapoints
        self._minutes = minutes

    def of(self, name: str) -> Series:
        if name in self._names:
            found = self._datapoints.get(self._names[name], {})
            return {minute: found[minute] for minute in self._minutes if minute in found}
        return self._series(self._expressions[name])

    def _series(self, node: ast.expr) -> Series:
        match node:
            case ast.Name(id=name):
                return self.of(name)
            case ast.BinOp(left=left, op=op, right=ast.Constant(value=int() | float() as number)):
                values = self._series(left).items()
                return {at: _OPERATORS[type(op)](value, number) for at, value in values}
            case ast.BinOp(left=left, op=op, right=right):
                return _joined(_OPERATORS[type(op)], self._series(left), self._series(right))
            case ast.Call(func=ast.Name(id="FILL"), args=[filled, ast.Constant(value=number)]):
                known = self._series(filled)
                return {minute: known.get(minute, float(str(number))) for minute in self._minutes}
            case ast.Call(func=ast.Name(id="CEIL"), args=[argument]):
                return {at: math.ceil(value) for at, value in self._series(argument).items()}
            case ast.Call(func=ast.Name(id="MAX"), args=[ast.List(elts=elements)]):
                return _greatest([self._series(element) for element in elements])
        raise NotModelled(ast.unparse(node))


def _joined(operation: Callable[[float, float], float], left: Series, right: Series) -> Series:
    """Two series have a result where both have a datapoint."""
    return {at: operation(left[at], right[at]) for at in left if at in right}


def _greatest(several: list[Series]) -> Series:
    """What MAX returns where one of the series has no datapoint is not documented."""
    if any(series.keys() != several[0].keys() for series in several):
        raise NotModelled("MAX of series with datapoints at different minutes")
    return {at: max(series[at] for series in several) for at in several[0]}
