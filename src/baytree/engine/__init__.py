"""Where the rows of a table are stored, and how statistics are computed over them.

A learner sees its training rows only through the protocol `Partitions` (`engine.partitions`):

- `map_reduce(observe)` is one pass: `observe(table)` returns a statistic for every partition, and the statistics are
  added up in the order of the partitions. The result therefore depends neither on threads nor on machines.
- `submit(observe)` requests a statistic without starting a pass. It is computed by the next pass, whatever starts that one;
  calling the returned function starts a pass only if there was none since. On remote engines this saves reads of the data.
- `gather(select)` brings selected rows into this process, `map_partitions(transform)` transforms each partition on the fly.
- `apply(make)` and `apply_and_persist(make, kind)` compute a value per partition (`engine.partition_values`) for solvers
  that read the same rows again and again; `persist()` keeps the partitions themselves.

`LocalPartitions` does this with threads over a `Table` in memory. For all other engines `RemotePartitions`
(`engine.remote`) does it, over *blocks*: packed bytes of one batch of rows (`engine.blocks`). An engine provides only a
`RemoteSource`, whose `pack_blocks` reads the raw rows once, packs every block, and collects the profile from which the
schema is inferred (`engine.remote_frame`), and a `BlockCollection`, which runs a function on every block.
`engine.dispatch` chooses the engine from the type of the rows.

The path of one `map_reduce` call on a remote engine:

1. `RemotePartitions.map_reduce` calls `submit` and then the returned function. All pending queries are bundled into one
   `MapReducePass`, a picklable function of a block; `BlockCollection.map_reduce` takes it to the blocks:
   - files (`engine.scan`): `BlockStore` runs it on threads over blocks in memory or in temporary files;
   - Dask (`engine.dask`): `WorkerBlocks` pickles it once and submits one task per worker that holds blocks; results of
     more than a few workers are added up on workers first. Without a `distributed` client, `LocalBlocks` does it here;
   - Spark (`engine.spark`): `CachedBlocks` runs it with `mapInArrow` over a cached frame of blocks, which Python workers
     read from local files (`engine.block_files`); large results are added up on the workers first.
2. At a block, the pass unpacks it, encodes its rows with the schema (`BlockEncoder`), splits them into parts of
   `rows_per_part` rows and observes each as `LocalPartitions` would.
3. On Dask and Spark the statistic comes back pickled as a `WorkerResult`, with the warnings or the error of the worker
   (`engine.worker_results`). Results are added up in block order, warnings are emitted, errors are raised.

To debug a learner on a remote engine, run its `observe` on `LocalPartitions` first: only the transport differs.

`engine.quantiles` and `engine.outliers` are computations over any `Partitions`; `engine.progress` reports passes to a
progress bar.
"""
