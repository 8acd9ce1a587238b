// What a step of the forward pass asks of candidates, and what it finds.
#pragma once
#include <cstdint>

namespace baytree::linear::splines {

// What a step asks of candidates.
struct Rules {
  double least_line;          // squared length of a line's new part, above which it is one
  double tolerance, crowded;  // share of a hinge's square that must be new: beside a line, and without one
  double tie;                 // a knot must be better by this share
  double lead;                // and by this much better than the line
  double limit;               // gains of knots from here on are not believed
};

// The line and the best knot of a pair; a gain of 0 is none.
struct Candidate {
  double line = 0, knot = 0;
  std::int32_t rank = -1;
  bool has_line = false;
};

}  // namespace baytree::linear::splines
