// Rows of a growing tree: in every column the rows of a node are contiguous and in order, and a split partitions them
// in place.
#pragma once
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/sorted/measures.hpp"
#include "tree/sorted/settings.hpp"
#include "tree/sorted/sorting.hpp"
#include "tree/sorted/surrogates.hpp"
#include "util/thread_pool.hpp"

namespace baytree::tree::sorted {

// Buffers for the rows of the second and the third branch while a column is partitioned.
struct PartitionBuffer {
  std::vector<Entry> second, third;
  std::vector<uint32_t> tags[2];
};

// The number of rows with a known value, which come first in a numeric column.
inline size_t known_in(std::span<const Entry> all) {
  if (all.empty() || rank_of(all.back()) != kMissing) return all.size();
  return size_t(std::ranges::partition_point(all, [](Entry e) { return rank_of(e) != kMissing; }) - all.begin());
}

class PartitionedRows {
 public:
  PartitionedRows(std::span<const ColumnView> columns, size_t rows, const Target& target, Workers& workers)
      : columns_(columns), n_(rows), target_(target), workers_(workers), entries_(columns.size()), levels_(columns.size()),
        tags_(rows), side_(rows, kUnassigned) {
    sort_columns();
  }

  std::span<uint8_t> side() { return side_; }  // [n_rows], the branch of each row in the node that holds it
  std::span<const uint8_t> side() const { return side_; }
  // The entries of a numeric column.
  std::span<const Entry> entries(const Node& node, size_t column) const {
    return {entries_[column].data() + node.begin, node.end - node.begin};
  }
  // The levels of a nominal column.
  const NarrowLevels& levels(size_t column) const { return levels_[column]; }
  // The rows of a node in table order.
  std::span<const uint32_t> tags(const Node& node) const { return {tags_.data() + node.begin, node.end - node.begin}; }

  void divide_rows(const Node& node, std::vector<Node>& children, PartitionBuffer& buffer) {
    const auto few = few_below_cut(node);
    const std::array<size_t, 3> count = few.empty() ? divide_all(node, buffer) : move_few_first(node, few, buffer);
    uint32_t begin = node.begin;
    for (size_t b = 0; b < children.size(); ++b) {
      children[b].begin = begin, children[b].end = begin += uint32_t(count[b]), children[b].side = uint8_t(b);
    }
  }

  // Divides a column that is cut; the rows of children that will not be split again are left out.
  void partition(const Node& node, const std::vector<Node>& children, size_t column, PartitionBuffer& buffer) {
    if (columns_[column].is_nominal() || std::ranges::all_of(children, &Node::is_final)) return;
    if (is_divided(node, column)) return;
    Entry* in = entries_[column].data() + node.begin;
    const size_t n = node.end - node.begin;
    if (buffer.second.size() < n) buffer.second.resize(n);
    if (buffer.third.size() < n && children.size() > 2) buffer.third.resize(n);
    const int bits = target_.class_bits;
    const uint8_t* side = side_.data();
    Entry* second = buffer.second.data();
    size_t count[3] = {0, 0, 0};
    for (size_t i = 0; i < n; ++i) {
      const Entry e = in[i];
      const size_t s = side[tag_of(e) >> bits], goes_on = 1 - (s >> 1 != 0), is_second = s & goes_on;
      in[count[0]] = e, second[count[1]] = e;  // branch-free: sides are unpredictable here
      count[0] += goes_on - is_second, count[1] += is_second;
      if (s == 2) buffer.third[count[2]++] = e;
    }
    if (!children[1].is_final) std::copy_n(second, count[1], entries_[column].data() + children[1].begin);
    if (children.size() > 2 && !children[2].is_final)
      std::copy_n(buffer.third.begin(), count[2], entries_[column].data() + children[2].begin);
  }

  // Distributes the rows of a node to any number of branches, branch[row] being that of each row; returns where each
  // branch begins, and the end.
  std::vector<uint32_t> deal_rows(const Node& node, size_t branches, std::span<const int32_t> branch, PartitionBuffer& buffer) {
    const std::span<uint32_t> own(tags_.data() + node.begin, node.end - node.begin);
    std::vector<uint32_t> begin(branches + 1, 0);
    for (const uint32_t tag : own) ++begin[size_t(branch[target_.row(tag)]) + 1];
    begin[0] = node.begin;
    for (size_t b = 0; b < branches; ++b) begin[b + 1] += begin[b];
    deal(own, node.begin, begin, branch, buffer.tags[0], [](uint32_t tag) { return tag; });
    return begin;
  }
  // The same for a numeric column, with the branches starting at the same positions.
  void deal_column(const Node& node, size_t column, std::span<const uint32_t> begin, std::span<const int32_t> branch, PartitionBuffer& buffer) {
    const std::span<Entry> own(entries_[column].data() + node.begin, node.end - node.begin);
    deal(own, node.begin, begin, branch, buffer.second, tag_of);
  }

  // The split's own column is already partitioned, unless missing values, which come last, take the first branch.
  bool is_divided(const Node& node, size_t column) const {
    return size_t(node.split.column) == column && (node.split.missing > 0 || known_in(entries(node, column)) == node.end - node.begin);
  }

  double size(const Node& node) const { return target_.counts_rows ? double(node.rows) : node.weight; }

 private:
  // The entries of the first branch of a threshold, if they are very few compared with the rest and no value is
  // missing.
  std::span<const Entry> few_below_cut(const Node& node) const {
    const auto column = size_t(node.split.column);
    if (columns_[column].is_nominal()) return {};
    const auto all = entries(node, column), few = all.first(size_t(node.split.last) + 1);
    return few.size() * 64 < all.size() && known_in(all) == all.size() ? few : std::span<const Entry>();
  }

  // Moves few rows to the front: the others are shifted in long runs.
  std::array<size_t, 3> move_few_first(const Node& node, std::span<const Entry> few, PartitionBuffer& buffer) {
    const std::span<uint32_t> own(tags_.data() + node.begin, node.end - node.begin);
    auto& taken = buffer.tags[0];
    taken.resize(std::max(taken.size(), few.size()));
    std::ranges::transform(few, taken.begin(), tag_of);
    std::sort(taken.begin(), taken.begin() + std::ptrdiff_t(few.size()));
    auto end = own.end();
    for (size_t i = few.size(); i-- > 0;) {
      const auto at = std::lower_bound(own.begin(), end, taken[i]);
      if (i + 1 < few.size()) std::move_backward(at + 1, end, end + std::ptrdiff_t(few.size() - 1 - i));
      end = at;
    }
    std::move_backward(own.begin(), end, end + std::ptrdiff_t(few.size()));
    std::copy_n(taken.begin(), few.size(), own.begin());
    return {few.size(), own.size() - few.size(), 0};
  }

  std::array<size_t, 3> divide_all(const Node& node, PartitionBuffer& buffer) {
    uint32_t* in = tags_.data() + node.begin;
    const size_t n = node.end - node.begin;
    for (auto& other : buffer.tags) other.resize(std::max(other.size(), n));
    uint32_t* second = buffer.tags[0].data();
    std::array<size_t, 3> count{0, 0, 0};
    for (size_t i = 0; i < n; ++i) {
      const uint32_t tag = in[i];
      const size_t side = side_[target_.row(tag)], goes_on = 1 - (side >> 1 != 0), is_second = side & goes_on;
      in[count[0]] = tag, second[count[1]] = tag;
      count[0] += goes_on - is_second, count[1] += is_second;
      if (side == 2) buffer.tags[1][count[2]++] = tag;
    }
    std::copy_n(buffer.tags[0].begin(), count[1], in + count[0]);
    std::copy_n(buffer.tags[1].begin(), count[2], in + count[0] + count[1]);
    return count;
  }

  template <typename Item, std::invocable<Item> TagOf>
  void deal(std::span<Item> own, uint32_t origin, std::span<const uint32_t> begin, std::span<const int32_t> branch, std::vector<Item>& room,
            const TagOf& tag_of_item) const {
    if (begin.size() == 3) return deal_in_two(own, branch, room, tag_of_item);
    room.assign(own.begin(), own.end());
    std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
    for (const Item item : room) own[next[size_t(branch[target_.row(tag_of_item(item))])]++ - origin] = item;
  }

  template <typename Item, std::invocable<Item> TagOf>
  void deal_in_two(std::span<Item> own, std::span<const int32_t> branch, std::vector<Item>& room, const TagOf& tag_of_item) const {
    if (room.size() < own.size()) room.resize(own.size());
    size_t count[2] = {0, 0};
    for (const Item item : own) {
      const auto is_second = size_t(branch[target_.row(tag_of_item(item))]);
      own[count[0]] = item, room[count[1]] = item;  // branch-free: sides are unpredictable here
      count[0] += 1 - is_second, count[1] += is_second;
    }
    std::copy_n(room.begin(), count[1], own.begin() + std::ptrdiff_t(count[0]));
  }

  void sort_columns() {
    for (size_t i = 0; i < n_; ++i) tags_[i] = tag(i);
    copy_columns();
    std::vector<std::vector<uint64_t>> scratch(size_t(workers_.size()));
    workers_.run(columns_.size(), [&](size_t j, int worker) {
      if (columns_[j].is_nominal()) return;
      sort_keys(columns_[j], target_.class_bits, [&](size_t row) { return tag(row); }, entries_[j], scratch[size_t(worker)]);
    });
  }
  // Block by block over all columns, since the columns of a row-major matrix share cache lines.
  void copy_columns() {
    constexpr size_t kBlock = 1024;
    workers_.run(columns_.size(), [&](size_t j, int) {
      if (columns_[j].is_nominal()) levels_[j] = NarrowLevels(columns_[j], n_);
      else entries_[j].resize(n_);
    });
    workers_.run((n_ + kBlock - 1) / kBlock, [&](size_t block, int) {
      const size_t begin = block * kBlock, end = std::min(n_, begin + kBlock);
      for (size_t j = 0; j < columns_.size(); ++j) {
        if (columns_[j].is_nominal()) levels_[j].copy(columns_[j], begin, end);
        else copy_keys(columns_[j], begin, end, entries_[j]);
      }
    });
  }
  uint32_t tag(size_t row) const {
    return target_.class_bits ? uint32_t(row << target_.class_bits) | uint32_t(target_.label[row]) : uint32_t(row);
  }

  std::span<const ColumnView> columns_;
  size_t n_;
  const Target& target_;
  Workers& workers_;
  std::vector<std::vector<Entry>> entries_;  // per numeric column: rows of a node contiguous, ascending by value
  std::vector<NarrowLevels> levels_;                // per nominal column, in table order
  std::vector<uint32_t> tags_;               // rows of a node contiguous, in table order
  std::vector<uint8_t> side_;
};

}  // namespace baytree::tree::sorted
