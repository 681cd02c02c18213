// What two sides of identical code differ by: the empirical null of a comparison. B. Efron,
// "Large-scale simultaneous hypothesis testing: the choice of a null hypothesis", J. Am. Stat.
// Assoc. 99 (2004), 96-104. Rows that have identical code differ by what the machine did between
// the two runs: a shift that rows of one kind share, and a scatter of single rows about it, beyond
// the noise of processes. A row whose work changed is tested against both.
#pragma once

#include <map>
#include <vector>

#include "baselines/statistics/scatter.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

// A row of identical code, and which rows are of its kind.
struct NullRow {
  Contrast contrast;
  int group = 0;
};

// What the machine did to a row.
struct Movement {
  double shift = 0;
  VarianceEstimate error{};  // of the shift
  ScaledT scatter{};         // of a single row about the shift
};

// Fewer rows of identical code than this do not show what the machine did to each group.
inline constexpr std::size_t kFewestNullRows = 8;

class NullDistribution {
 public:
  // Rows without degrees of freedom are passed over; at least two others. tests: how many rows will
  // be tested against it, which says how small a probability must be known.
  //
  // Each group's shift is the location of a t distribution (Lange et al. 1989, scatter.h), drawn
  // towards all groups' by how far these differ: the variance beyond what is known of each is that
  // of R. C. Paule, J. Mandel, "Consensus values and weighting factors", J. Res. Natl. Bur. Stand.
  // 87 (1982), 377-385.
  NullDistribution(const std::vector<NullRow>& rows, std::size_t tests);

  // Also of a group without rows: then as groups differ from each other.
  Movement movement(int group) const;

 private:
  struct Shift {
    double value = 0;
    double variance = 0;
    double degrees_of_freedom = 1;
  };

  std::map<int, Shift> groups_;
  Shift all_;                      // of the groups'
  VarianceEstimate among_groups_;  // of groups' shifts
  Scatter scatter_;
};

// Takes out what the machine did: the shift leaves the effect, and its error and the scatter enter.
void take_out(const Movement& movement, Contrast& contrast);

}  // namespace fusegate::baselines
