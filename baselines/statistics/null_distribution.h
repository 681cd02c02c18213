// What two sides of equal work differ by: the empirical null of a comparison. B. Efron,
// "Large-scale simultaneous hypothesis testing: the choice of a null hypothesis", J. Am. Stat.
// Assoc. 99 (2004), 96-104. Rows that did equal work differ by what the machine did between the two
// runs: a shift that rows of one kind share, and a scatter of single rows about it, beyond the
// noise of processes. A row whose work changed is tested against both.
#pragma once

#include <map>
#include <vector>

#include "baselines/statistics/statistics.h"

namespace fusegate::baselines {

// A row of equal work, and which rows are of its kind.
struct NullRow {
  Contrast contrast;
  int group = 0;
};

// What the machine did to a row.
struct Movement {
  double shift = 0;
  VarianceEstimate variance;  // of a single row about the shift, the shift's own error included
};

// Fewer rows of equal work than this do not tell what the machine did: in 1000 simulated suites of
// 104 rows in six groups, whose groups were shifted by 0.3 % and whose rows scattered by 0.05 to
// 0.4 %, unchanged rows raised an alarm in 2.2 % with 6 rows of equal work, 1.4 % with 10, 0.6 %
// with 16 and 0.2 % with 24.
inline constexpr std::size_t kFewestNullRows = 16;

class NullDistribution {
 public:
  // Rows without degrees of freedom are passed over; at least two others.
  //
  // Twice a random-effects mean, first of the rows of each group and then of the groups: the
  // variance beyond what is known of each value is that of R. C. Paule, J. Mandel, "Consensus
  // values and weighting factors", J. Res. Natl. Bur. Stand. 87 (1982), 377-385, the moment
  // estimate of R. DerSimonian, N. Laird, "Meta-analysis in clinical trials", Control. Clin. Trials
  // 7 (1986), 177-188, solved for its own weights. A group's variance is moderated by that of all
  // groups (variance_prior.h), its shift is drawn towards theirs.
  explicit NullDistribution(const std::vector<NullRow>& rows);

  // Also of a group without rows: then as groups differ from each other.
  Movement movement(int group) const;

 private:
  struct Group {
    double shift = 0;
    double shift_variance = 0;
    VarianceEstimate scatter;
  };

  std::map<int, Group> groups_;
  Group all_;              // the groups' shifts; scatter: of the shifts among them
  VarianceEstimate rows_;  // scatter of rows within their groups, over all of these
};

// Takes out what the machine did: the shift leaves the effect, and the variance enters the error.
void take_out(const Movement& movement, Contrast& contrast);

}  // namespace fusegate::baselines
