// What a thread needs to work: nothing in it outlives a task.
#pragma once
#include <string_view>
#include <vector>

#include "tree/sorted/rows/partitioned_rows.hpp"
#include "tree/sorted/splits/level_counter.hpp"
#include "tree/sorted/splits/split.hpp"
#include "tree/sorted/splits/surrogates.hpp"
#include "tree/sorted/splits/two_class_cuts.hpp"
#include "tree/sorted/splits/two_class_scan.hpp"

namespace baytree::tree::sorted {

// What every search needs, whatever is predicted.
struct Workspace {
  explicit Workspace(int which) : worker(which) {}
  int worker;
  PartitionBuffer buffer;
  std::vector<Split> offers;
  std::vector<Surrogate> candidates;
};

template <Measure M> struct MeasureWorkspace : Workspace {
  MeasureWorkspace(const Target& target, std::string_view criterion, int which) : Workspace(which), measure(target, criterion) {}
  M measure;
  LevelCounter<M> counter;
  Levels levels;
  ScanRoom<M> room;
  TwoClassCuts<M> cuts;
  std::vector<double> known, missing, zero;
  TwoClassScan::Blocks blocks;
};

}  // namespace baytree::tree::sorted
