// Cache of solved branches: the same tests in another order lead to the same rows.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>

namespace baytree::tree::optimal {

// The tests on the path to a node with their outcomes, ascending; empty if there are too many to be encoded.
class Branch {
 public:
  static constexpr std::size_t most = 7;

  Branch with(std::size_t test, bool holds) const {
    Branch longer = *this;
    const std::size_t step = 2 * test + (holds ? 2 : 1);  // 0 is an empty slot
    if (!is_known_ || size_ == most || step > 0xFFFF) return longer.is_known_ = false, longer;
    std::size_t place = longer.size_++;
    for (; place && longer.steps_[place - 1] > step; --place) longer.steps_[place] = longer.steps_[place - 1];
    longer.steps_[place] = std::uint16_t(step);
    return longer;
  }
  // A single test has only one order, so there is nothing to look up.
  bool is_worth_keeping() const { return is_known_ && size_ > 1; }

  struct Key {
    std::uint64_t half[2];
    bool operator==(const Key&) const = default;
  };
  Key key(int depth) const {
    Key key{};
    for (std::size_t k = 0; k < most; ++k) key.half[k / 4] |= std::uint64_t(steps_[k]) << (16 * (k % 4));
    key.half[1] |= std::uint64_t(depth) << 48;
    return key;
  }

 private:
  std::array<std::uint16_t, most> steps_{};
  std::size_t size_ = 0;
  bool is_known_ = true;
};

// Cost of the best tree of a branch, or a lower bound.
struct Known {
  std::int64_t lower = 0;
  bool is_exact = false;
  std::int32_t shape = -1;  // of the best tree, if stored
  bool has_shape = false;
};

class Seen {
 public:
  const Known* find(const Branch& branch, int depth) const {
    if (!branch.is_worth_keeping()) return nullptr;
    const auto at = known_.find(branch.key(depth));
    return at == known_.end() ? nullptr : &at->second;
  }
  void keep(const Branch& branch, int depth, const Known& known) {
    if (branch.is_worth_keeping() && known_.size() < most) known_.insert_or_assign(branch.key(depth), known);
  }

 private:
  static constexpr std::size_t most = 1 << 22;  // beyond this nothing is added, which only costs time
  struct Hash {
    std::size_t operator()(const Branch::Key& key) const {
      std::uint64_t mixed = key.half[0] * 0x9E3779B97F4A7C15u ^ (key.half[1] + 0x632BE59BD9B4E019u) * 0xD6E8FEB86659FD93u;
      return std::size_t(mixed ^ mixed >> 32);
    }
  };
  std::unordered_map<Branch::Key, Known, Hash> known_;
};

}  // namespace baytree::tree::optimal
