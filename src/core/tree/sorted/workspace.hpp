// What a thread needs to work: nothing in it outlives a task.
#pragma once
#include <string_view>
#include <vector>

#include "tree/sorted/bounded/bounded_cuts.hpp"
#include "tree/sorted/splits/level_counter.hpp"
#include "tree/sorted/splits/split.hpp"
#include "tree/sorted/splits/two_class_scan.hpp"

namespace baytree::tree::sorted {

template <Measure M> struct Workspace {
  Workspace(const Target& target, std::string_view criterion, int which) : measure(target, criterion), worker(which) {}
  M measure;
  int worker;
  LevelCounter<M> counter;
  Levels levels;
  ScanRoom<M> room;
  BoundedCuts cuts;
  std::vector<double> known, missing, zero;
  TwoClassScan::Blocks blocks;
};

}  // namespace baytree::tree::sorted
