"""An engine for tests: rows in parts of unequal sizes, of which nothing stays in memory between two rounds."""

from functools import partial
from itertools import pairwise

from baytree.engine.anew import MadeAnew
from baytree.engine.threads import added
from baytree.table.table import Table


class Apart:
    """Parts of a table with these borders; who gathers all rows is counted."""

    def __init__(self, table: Table, borders):
        self.table, self.borders, self.n_jobs = table, tuple(borders), 1
        self.schema, self.n_rows, self.n_gathered, self.is_unweighted = table.schema, len(table), 0, False

    def total(self, observe, rows_per_part=None):
        ends = [0, *self.borders, self.n_rows]
        return added([observe(self.table.rows(first, last)) for first, last in pairwise(ends)])

    def later(self, observe, rows_per_part=None):
        return partial(self.total, observe, rows_per_part)

    def gather(self, choose=None):
        self.n_gathered += choose is None
        return self.table if choose is None else choose(self.table)

    def cached(self):
        return self

    def changed(self, change):
        return Changed(self, change)

    def made(self, make, rows_per_part=None):
        return MadeAnew(self, make, rows_per_part)

    def kept(self, make, kind):
        return self.made(lambda table: kind.from_arrays(make(table).arrays()))


class Changed(Apart):
    """The same rows, each part changed on its way."""

    def __init__(self, rows: Apart, change):
        super().__init__(rows.table, rows.borders)
        self.rows, self.change = rows, change

    def total(self, observe, rows_per_part=None):
        return self.rows.total(lambda table: observe(self.change(table)), rows_per_part)

    def gather(self, choose=None):
        table = self.change(self.rows.gather())
        return table if choose is None else choose(table)
