"""An engine for tests: rows in parts of unequal sizes, of which nothing stays in memory between two rounds."""

from functools import partial
from itertools import pairwise

from baytree.data.encoding import Table
from baytree.engine.partition_values import RecomputedPartitionValues
from baytree.parallel.threads import sum_in_order


class Apart:
    """Parts of a table with these borders; who gathers all rows is counted."""

    def __init__(self, table: Table, borders):
        self.table, self.borders, self.n_jobs = table, tuple(borders), 1
        self.schema, self.n_rows, self.n_gathered, self.is_unweighted = table.schema, len(table), 0, False

    def map_reduce(self, observe, rows_per_part=None):
        ends = [0, *self.borders, self.n_rows]
        return sum_in_order([observe(self.table.rows(first, last)) for first, last in pairwise(ends)])

    def submit(self, observe, rows_per_part=None):
        return partial(self.map_reduce, observe, rows_per_part)

    def gather(self, choose=None):
        self.n_gathered += choose is None
        return self.table if choose is None else choose(self.table)

    def persist(self):
        return self

    def map_partitions(self, change):
        return Changed(self, change)

    def apply(self, make, rows_per_part=None):
        return RecomputedPartitionValues(self, make, rows_per_part)

    def apply_and_persist(self, make, kind):
        return self.apply(lambda table: kind.from_arrays(make(table).arrays()))


class Changed(Apart):
    """The same rows, each part changed on its way."""

    def __init__(self, rows: Apart, change):
        super().__init__(rows.table, rows.borders)
        self.rows, self.change = rows, change

    def map_reduce(self, observe, rows_per_part=None):
        return self.rows.map_reduce(lambda table: observe(self.change(table)), rows_per_part)

    def gather(self, choose=None):
        table = self.change(self.rows.gather())
        return table if choose is None else choose(table)
