"""Arithmetic of exported Python modules: functions whose source is copied into a module that needs them.

They must not depend on this library, only on the standard library, and run on Python 3.9: exported modules begin with
`from __future__ import annotations`. Sums are taken from left to right, one by one, because the rounding of Python's own
`sum` depends on the version.
"""

from __future__ import annotations

import bisect
import math

INF = math.inf


def _bag(counts: dict | None, scale: dict, is_unit: bool) -> dict:
    """Weighted count of each word that has a scale; normalised to length 1 if `is_unit`."""
    counts = counts or {}
    amounts = {word: counts[word] * scale[word] for word in sorted(counts) if word in scale}
    if not is_unit:
        return amounts
    length = math.sqrt(_total([amount * amount for amount in amounts.values()])) or 1.0
    return {word: amount / length for word, amount in amounts.items()}


def _over_words(bag: dict, rule: str, table: dict, width: int) -> list:
    """Sum of the table rows of the words in a bag: times their amounts, unchanged, or as log rising factorials."""
    total = [0.0] * width
    for word, amount in bag.items():
        for c, number in enumerate(table[word]):
            if rule == "amount":
                total[c] += amount * number
            else:
                total[c] += number if rule == "presence" else _log_rising(number, amount)
    return total


def _place(value: float | None, cuts: tuple) -> int | None:
    """Number of cut points below a number; None if it is missing."""
    return None if value is None else bisect.bisect_left(cuts, value)


def _total(values: list) -> float:
    """Sum from left to right."""
    total = 0.0
    for value in values:
        total += value
    return total


def _softmax(scores: list) -> list:
    """Softmax of log scores: probabilities."""
    top = max(scores)
    parts = [math.exp(score - top) for score in scores]
    total = _total(parts)
    return [part / total for part in parts]


def _first_highest(values: list) -> int:
    """Index of the greatest value; the first of equal ones."""
    return max(range(len(values)), key=values.__getitem__)


def _log(value: float) -> float:
    """Logarithm; -inf for 0."""
    return math.log(value) if value > 0 else -INF


def _round(value: float) -> float:
    """Nearest integer, half to even."""
    return value if abs(value) >= 2.0**52 else float(round(value))


def _log_density(x: float, mean: float, scale: float, degrees: float, constant: float) -> float:
    """Log density of a normal distribution (infinite degrees of freedom) or of Student's t."""
    gap = x - mean
    z = (x / 2 - mean / 2) / (scale / 2) if math.isinf(gap) else gap / scale
    if abs(z) <= 2.0**500:
        if degrees == INF:
            return constant - 0.5 * z * z
        return constant - 0.5 * (degrees + 1) * math.log1p(z / degrees * z)
    distance = math.log(abs(x / 2 - mean / 2)) + math.log(2.0) - math.log(scale)
    if degrees == INF:
        return -(2.0**990) * (1 + distance / 2048)
    return constant - (degrees + 1) * (distance - 0.5 * math.log(degrees))


def _log_rising(a: float, x: float) -> float:
    """log gamma(a + x) - log gamma(a), without cancellation."""
    if x == 0:
        return 0.0
    if a == 0:
        return -INF
    if x <= 16 and x == math.floor(x):
        return _total([math.log(a + step) for step in range(int(x))])
    shift = 0.0
    while a < 15:
        shift += math.log1p(x / a)
        a += 1
    rest = _stirling(a + x) - _stirling(a) - shift
    return x * math.log(a + x) + (a - 0.5) * math.log1p(x / a) - x + rest


def _stirling(x: float) -> float:
    """Remainder of Stirling's formula for log gamma(x), for x of 15 or more."""
    r = 1 / (x * x)
    return (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r / 1188)))) / x


def _kernels(x: float, classes: tuple) -> list:
    """Log kernel density of each class (centres, weights, width) at x, computed relative to the nearest kernel."""
    scores = []
    for centre, weight, width in classes:
        distances = [2 * abs(x / (2 * width) - v / (2 * width)) for v in centre]
        minimum = min(distances)
        if not minimum < 2.0**500:
            scores.append(-(2.0**990) * (1 + math.log(min(minimum, 1.797693e308)) / 2048))
            continue
        bells = [math.exp(-min(0.5 * (z - minimum) * (z + minimum), 745.0)) for z in distances]
        parts = [weight[k] * bell for k, bell in enumerate(bells)]
        size = math.log(_total(weight)) + math.log(width) + 0.5 * math.log(2 * math.pi)
        scores.append(math.log(_total(parts)) - size - 0.5 * minimum * minimum)
    return scores


def _interval_kernels(x: float, classes: tuple, precision: float) -> list:
    """Log probability of an interval around x by the kernels of each class, summed like Weka."""
    scores = []
    for centre, weight, width in classes:
        whole, total, visited = _total(weight), 0.0, 0.0
        above = bisect.bisect_left(centre, x)
        for side in (range(above, len(centre)), range(above - 1, -1, -1)):
            for k in side:
                ends = [(centre[k] - x + end) / width for end in (precision / 2, -precision / 2)]
                term = 0.5 * math.erfc(-ends[0] * math.sqrt(0.5)) - 0.5 * math.erfc(-ends[1] * math.sqrt(0.5))
                total += weight[k] * term
                visited += weight[k]
                if term * (whole - visited) < total * 0.01:
                    break
        scores.append(math.log(max(total / whole, 1e-75)))
    return scores


def _matching(x: dict, names: tuple, combinations: tuple, n_levels: tuple, n_classes: int, added: float) -> list:
    """Weight of the combinations that agree with every known column, per class."""
    free, known = 1, []
    for k, name in enumerate(names):
        if x[name] is None:
            free *= n_levels[k]
        else:
            known.append((k, x[name]))
    weight = [added * float(free)] * n_classes
    for levels, c, amount in combinations:
        if all(levels[k] == level for k, level in known):
            weight[c] += amount
    return weight


def _sum(x: dict, terms: tuple) -> float | None:
    """Weighted sum of columns; None if one of them is missing or infinite terms of opposite sign meet."""
    if any(x[name] is None for name, _ in terms):
        return None
    total = terms[0][1] * x[terms[0][0]]
    for name, weight in terms[1:]:
        total += weight * x[name]
    return None if total != total else total


def _branch(node: tuple, x: dict) -> int | str:
    """Branch of a row: by the first test whose value is known, else what the node does with rows that no test can place."""
    if not node:
        return "stop"
    for name, relation, where, *branches in node[0]:
        value = x[name]
        if value is None:
            continue
        if relation == "in":
            branch = where.get(value, -1)
        else:
            position = bisect.bisect_left if relation == "<=" else bisect.bisect_right
            branch = branches[position(where, value)]
        if branch >= 0:
            return branch
    return node[2]


def _route(tree: tuple, x: dict) -> int:
    """Number of the node in which a row ends."""
    at = 0
    while True:
        branch = _branch(tree[at], x)
        if isinstance(branch, str):
            return at
        at = tree[at][1] + branch


def _spread(tree: tuple, x: dict, table: tuple) -> list:
    """Sum of the table rows of the nodes in which fractions of a row end, times the fractions."""
    total = [0.0] * len(table[0])
    waiting = [(0, 1.0)]
    while waiting:
        at, weight = waiting.pop()
        branch = _branch(tree[at], x)
        if branch == "stop":
            for c, number in enumerate(table[at]):
                total[c] += weight * number
        elif branch == "spread":
            _, first, _, *proportions = tree[at]
            parts = [(first + b, weight * proportion) for b, proportion in enumerate(proportions) if proportion > 0]
            waiting.extend(reversed(parts))
        else:
            waiting.append((tree[at][1] + branch, weight))
    return total
