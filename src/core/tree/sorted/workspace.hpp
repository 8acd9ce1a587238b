// Thread-local buffers; nothing in them outlives a task.
#pragma once
#include <string_view>
#include <vector>

#include "tree/sorted/level_counts.hpp"
#include "tree/sorted/split.hpp"

namespace baytree::tree::sorted {

template <Measure M> struct Workspace {
  Workspace(const Target& target, std::string_view criterion, int which) : measure(target, criterion), worker(which) {}
  M measure;
  int worker;
  LevelCounter<M> counter;
  Levels levels;
  ScanRoom<M> room;
  std::vector<double> known, missing, zero;
};

}  // namespace baytree::tree::sorted
