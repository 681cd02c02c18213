// What an A/A comparison showed: the same program measured twice, as if it were two. Whatever is
// called there is a false alarm, so such comparisons say how far the gate can be trusted here.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "baselines/comparing/rule.h"
#include "baselines/comparing/verdict.h"
#include "baselines/io/json_field.h"
#include "baselines/record/run.h"

namespace fusegate::ci {

struct AaFindings {
  int benchmarks = 0;  // that had two processes or more on each side
  // At first sight a regression or an improvement, fresh processes or none: a false alarm each.
  std::vector<std::string> called;
  int processes_a_side = 0;  // of the smaller side
  // All comparisons of this device and suite that the history holds, this one among them.
  int comparisons = 0;
  int comparisons_with_alarm = 0;
};

// Compares as the gate does. A benchmark that failed, a control, and one that a side measured less
// than twice could not have been called and do not count.
AaFindings compare_aa(const baselines::Run& a, const baselines::Run& b,
                      const baselines::Rule& rule);

// The largest alarm rate that `alarms` in `comparisons` are compatible with, at 95 % confidence: C.
// J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of
// the binomial", Biometrika 26 (1934), 404-413. 1 where nothing was compared.
double alarm_rate_upper_bound(int comparisons, int alarms);

// "56 benchmarks, none called; so far 0 of 12 comparisons raised an alarm (95 % upper bound 22 %)"
std::string aa_text(const AaFindings& findings);

// {"benchmarks", "called", "processes_a_side", "comparisons", "comparisons_with_alarm",
// "alarm_rate_upper_bound"}
nlohmann::json aa_json(const AaFindings& findings);
// Throws InputError naming file and field.
AaFindings parse_aa(const baselines::JsonField& field);

// Of the smallest detectable effects of a comparison's benchmarks. "smallest detectable effect 0.62
// % in the median, 2.1 % at worst (geglu/...)"; "" where none has one.
std::string detectability_text(const std::vector<baselines::Verdict>& verdicts);
// {"median", "worst", "worst_benchmark"}, null where none has one.
nlohmann::json detectability_json(const std::vector<baselines::Verdict>& verdicts);

}  // namespace fusegate::ci
