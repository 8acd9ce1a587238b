"""Functions whose source is copied into exported Python modules, each only where it is needed.

They know nothing of this library, need the standard library only, and run on Python 3.9: the modules begin with
`from __future__ import annotations`. Sums go from the left, one by one:
Python's own `sum` rounds otherwise from version to version.
"""

from __future__ import annotations

import bisect
import datetime
import math
import re

INF = math.inf


def _read(row: dict, columns: dict) -> dict:
    """The values of a row by column; None where a value is missing."""
    return {name: how[0](name, row.get(name), *how[1:]) for name, how in columns.items()}


def _number(name: str, value: float | str | None, domain: str) -> float | None:
    """A number as a double."""
    if value is None or value != value:
        return None
    number = float(value)
    if number != number:
        return None
    if domain != "any" and math.isinf(number):
        raise ValueError(f"column {name!r}: {value!r} is infinite; give a finite number, or None if it is missing")
    if domain == "count" and number < 0:
        raise ValueError(f"column {name!r}: {value!r} is negative, but counts are not")
    return number


def _date(name: str, value: float | str | datetime.date | datetime.timedelta | None, domain: str, unit: str) -> float | None:
    """A date, a span of time or an ISO text in the unit of its column, from 1970-01-01 on; a number is taken as it is."""
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value)
    if value is None or value != value:
        return None
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        value = value - datetime.datetime(1970, 1, 1)
    elif isinstance(value, datetime.date):
        value = value - datetime.date(1970, 1, 1)
    if not isinstance(value, datetime.timedelta):
        return _number(name, value, domain)
    units = {"W": 604800000000, "D": 86400000000, "h": 3600000000, "m": 60000000, "s": 1000000, "ms": 1000, "us": 1}
    if unit not in units:
        raise ValueError(f"column {name!r}: give the number of units {unit!r} since 1970")
    return value // datetime.timedelta(microseconds=1) / units[unit]


def _level(name: str, value: object, levels: dict, unseen: str) -> str | None:
    """The text of a level; None where it was not there in training, unless that is an error."""
    if value is None or value != value:
        return None
    text = levels.get(value if isinstance(value, (str, int, float)) else str(value))
    if text is None and unseen == "error":
        raise ValueError(f"column {name!r}: level {value!r} was not seen in training")
    return text


def _words(
    name: str, value: object, lowercase: bool, ngrams: tuple, stop_words: frozenset, buckets: int | None
) -> dict | None:
    """How often each word, or run of words, stands in a document."""
    if value is None or value != value:
        return None
    if not isinstance(value, str):
        raise ValueError(f"column {name!r} is text, but {value!r} is not")
    words = [word for word in re.findall(r"\w\w+", value.lower() if lowercase else value) if word not in stop_words]
    counts = {}
    for n in range(ngrams[0], ngrams[1] + 1):
        for first in range(len(words) - n + 1):
            token = " ".join(words[first : first + n])
            token = token if buckets is None else _bucket(token, buckets)
            counts[token] = counts.get(token, 0) + 1
    return counts


def _bucket(token: str, buckets: int) -> str:
    """The bucket of a word: its 32-bit MurmurHash3 without its sign, modulo the number of buckets."""
    content, mask, code = token.encode("utf-8", "surrogatepass"), 0xFFFFFFFF, 0
    for first in range(0, len(content), 4):
        part = int.from_bytes(content[first : first + 4], "little") * 0xCC9E2D51 & mask
        code ^= ((part << 15 | part >> 17) & mask) * 0x1B873593 & mask
        if first + 4 <= len(content):
            code = ((code << 13 | code >> 19) & mask) * 5 + 0xE6546B64 & mask
    code ^= len(content)
    code = (code ^ code >> 16) * 0x85EBCA6B & mask
    code = (code ^ code >> 13) * 0xC2B2AE35 & mask
    code ^= code >> 16
    return f"#{abs(code - 2**32 if code >= 2**31 else code) % buckets}"


def _bag(counts: dict | None, scale: dict, is_unit: bool) -> dict:
    """The amount of each word that has a scale; the vector brought to length 1 where asked."""
    counts = counts or {}
    amounts = {word: counts[word] * scale[word] for word in sorted(counts) if word in scale}
    if not is_unit:
        return amounts
    length = math.sqrt(_total([amount * amount for amount in amounts.values()])) or 1.0
    return {word: amount / length for word, amount in amounts.items()}


def _over_words(bag: dict, rule: str, table: dict, width: int) -> list:
    """The rows of the words in a bag, added up: times their amounts, as they are, or as steps of an urn."""
    total = [0.0] * width
    for word, amount in bag.items():
        for c, number in enumerate(table[word]):
            if rule == "amount":
                total[c] += amount * number
            else:
                total[c] += number if rule == "presence" else _log_rising(number, amount)
    return total


def _place(value: float | None, cuts: tuple) -> int | None:
    """How many cuts lie below a number; None where it is missing."""
    return None if value is None else bisect.bisect_left(cuts, value)


def _total(values: list) -> float:
    """The sum, from the left."""
    total = 0.0
    for value in values:
        total += value
    return total


def _softmax(scores: list) -> list:
    """Scores in logarithms as shares."""
    top = max(scores)
    parts = [math.exp(score - top) for score in scores]
    total = _total(parts)
    return [part / total for part in parts]


def _first_highest(values: list) -> int:
    """The place of the greatest; of equal ones the first."""
    return max(range(len(values)), key=values.__getitem__)


def _log(value: float) -> float:
    """The logarithm, of 0 too."""
    return math.log(value) if value > 0 else -INF


def _round(value: float) -> float:
    """The nearest whole number, half to even."""
    return value if abs(value) >= 2.0**52 else float(round(value))


def _log_density(x: float, mean: float, scale: float, degrees: float, constant: float) -> float:
    """The logarithm of a normal density (infinite degrees) or of a Student t."""
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
    """log gamma(a + x) - log gamma(a), without cancelling."""
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
    """What Stirling's formula leaves of log gamma(x), for x of 15 or more."""
    r = 1 / (x * x)
    return (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r / 1188)))) / x


def _kernels(x: float, classes: tuple) -> list:
    """For each class the logarithm of its normal bumps (centres, weights, width) at x, about the nearest one."""
    scores = []
    for centre, weight, width in classes:
        distances = [2 * abs(x / (2 * width) - v / (2 * width)) for v in centre]
        least = min(distances)
        if not least < 2.0**500:
            scores.append(-(2.0**990) * (1 + math.log(min(least, 1.797693e308)) / 2048))
            continue
        bells = [math.exp(-min(0.5 * (z - least) * (z + least), 745.0)) for z in distances]
        parts = [weight[k] * bell for k, bell in enumerate(bells)]
        size = math.log(_total(weight)) + math.log(width) + 0.5 * math.log(2 * math.pi)
        scores.append(math.log(_total(parts)) - size - 0.5 * least * least)
    return scores


def _interval_kernels(x: float, classes: tuple, precision: float) -> list:
    """For each class the logarithm of its bumps' share of an interval about x, as Weka adds it up."""
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
    """For each class the weight of the combinations that agree with every known column."""
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


def _branch(node: tuple, x: dict) -> int | str:
    """The branch of a row: by the first test that can tell, else what is done with rows that none can place."""
    if not node:
        return "stop"
    for name, relation, where, *branches in node[0]:
        value = x[name]
        if value is None:
            continue
        if relation == "in":
            branch = where.get(value, -1)
        else:
            place = bisect.bisect_left if relation == "<=" else bisect.bisect_right
            branch = branches[place(where, value)]
        if branch >= 0:
            return branch
    return node[2]


def _route(tree: tuple, x: dict) -> int:
    """The number of the node where a row comes to rest."""
    at = 0
    while True:
        branch = _branch(tree[at], x)
        if isinstance(branch, str):
            return at
        at = tree[at][1] + branch


def _spread(tree: tuple, x: dict, table: tuple) -> list:
    """The rows of the nodes where the parts of a row come to rest, by their shares."""
    total = [0.0] * len(table[0])
    waiting = [(0, 1.0)]
    while waiting:
        at, weight = waiting.pop()
        branch = _branch(tree[at], x)
        if branch == "stop":
            for c, number in enumerate(table[at]):
                total[c] += weight * number
        elif branch == "spread":
            _, first, _, *shares = tree[at]
            parts = [(first + b, weight * share) for b, share in enumerate(shares) if share > 0]
            waiting.extend(reversed(parts))
        else:
            waiting.append((tree[at][1] + branch, weight))
    return total
