// How most rows of a kind moved between two sessions. Where no row is known to have done equal
// code, nothing parts a machine that changed from code that did. But a change that is one kernel's
// does not move most rows of its kind. B. Efron, "Large-scale simultaneous hypothesis testing: the
// choice of a null hypothesis", J. Am. Stat. Assoc. 99 (2004), 96-104.
#pragma once

#include <vector>

#include "baselines/statistics/scatter.h"
#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

struct CommonMovement {
  double shift = 0;  // the median of its group, weighted by how well rows are known
  // What the machine does to a single row besides, as rows show it that move to the other side: a
  // machine moves rows to both, a change that slows some moves them to one. The faster side shows
  // it for "slower", the slower side for "faster". Compare the mirrored statistics of R. F. Barber,
  // E. J. Candes, "Controlling the false discovery rate via knockoffs", Ann. Stat. 43 (2015),
  // 2055-2085.
  ScaledT upward{};
  ScaledT downward{};
  bool is_of_few = false;  // rows, so that more is guessed than known
};

// What most rows of each row's group did. Rows without degrees of freedom are passed over. Groups
// of fewer than eight rows go by all rows. Of fewer than 16 rows in all each is held against the
// others, both sides of them.
std::vector<CommonMovement> common_movements(const std::vector<Contrast>& rows,
                                             const std::vector<int>& groups);

// Of rows about shifts that are known already, one a row.
std::vector<CommonMovement> movements_about(const std::vector<double>& shifts,
                                            const std::vector<Contrast>& rows,
                                            const std::vector<int>& groups);

}  // namespace fusegate::baselines
