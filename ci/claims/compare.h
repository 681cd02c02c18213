// Findings about two implementations at every problem that both were measured at, and about
// kernels that a profile or a trace shows.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "ci/claims/input.h"

namespace fusegate::ci {

// An implementation in one of the two runs. run: nullptr where that run was not given.
struct Side {
  const MeasuredRun* run = nullptr;
  std::string_view whose;  // "our run", "the peers' run"
  std::string_view implementation;

  std::string benchmark(std::string_view operation, std::string_view problem) const;
};

Side our_side(const ClaimsInput& input, std::string_view implementation);
Side peer_side(const ClaimsInput& input, std::string_view implementation);

struct MeasuredProblem {
  baselines::BenchmarkName name;  // of the one that it was found by
  std::string problem;            // "bf16/batch:64/..."
};

// In bf16, the fewest rows first.
std::vector<MeasuredProblem> problems_of(const Side& side, std::string_view operation);

struct Question {
  std::string text;
  std::string_view operation;
  std::string_view only{};  // a problem; else it is asked at all that both sides were measured at
  std::int64_t most_rows = std::numeric_limits<std::int64_t>::max();  // of those
};

std::vector<MeasuredProblem> shared_problems(const Side& a, const Side& b,
                                             const Question& question);

struct Judged {
  Answer answer = Answer::kUnknown;
  std::string seen;
};

// How answers at several problems make one.
using Join = Answer (*)(const std::vector<Answer>&);

// A line a problem. missing: which of the two was not measured, or that intervals are too wide.
Finding over_problems(const Question& question, const Side& a, const Side& b, Join join,
                      const std::function<Judged(const MeasuredProblem&)>& judge);

// a's time over b's, answered by is_faster or is_slower.
Finding time_finding(const Question& question, const Side& a, const Side& b,
                     Answer (*rule)(const TimeRatio&), Join join = all_of);

// "`a` 58.60 us over `b` 60.20 us: 0.973 [0.971, 0.976], in cycles 0.972 [0.970, 0.975]"
std::string time_line(std::string_view label, const std::vector<double>& a_ns,
                      const std::vector<double>& b_ns, const TimeRatio& ratio);

// The geometric mean; NaN of none.
double typical(const std::vector<double>& values);

// What an unknown answer is for want of.
std::string needs(const Side& side, std::string_view operation);
inline constexpr std::string_view kNeedsTwoProcesses =
    "a second process of each, or more of them where an interval spans the bound";
std::string needs_trace(std::string_view name);

}  // namespace fusegate::ci
