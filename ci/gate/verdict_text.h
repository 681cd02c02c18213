// Why a verdict is what it is, and verdicts in the order in which people want them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/comparing/rule.h"
#include "baselines/comparing/verdict.h"

namespace fusegate::ci {

// What was found, and for an inconclusive benchmark what to do next: "1.20 % slower in 3 processes
// per side; not yet confirmed. Measure at least 4, or allow more with --max-processes". Without a
// full stop at the end. rule: the one that it was judged by.
std::string reason_text(const baselines::Verdict& verdict, const baselines::Rule& rule);

// "accepted up to 4 % until 2026-12-31 by ann: exact gelu (https://...)", or what it is worth no
// more; "" where nothing fits.
std::string accepted_text(const baselines::Verdict& verdict);

// What to do next: an action for programs, one of docs/verdicts.md, and a sentence for people.
struct NextStep {
  std::string_view action;
  std::string_view text;
};
inline constexpr NextStep kNothingToDo{"none", ""};
inline constexpr NextStep kChangeCode{"change_code", "Change the code, and measure again"};
inline constexpr NextStep kFixFailure{"fix_failure",
                                      "Mend what failed, as its reason says, and measure again"};
inline constexpr NextStep kMeasureMore{
    "measure_more", "Measure more processes, or allow more with --max-processes"};
inline constexpr NextStep kMeasureSideBySide{
    "measure_side_by_side", "Measure both sides in one session, with `fusegate duet` or `replay`"};
inline constexpr NextStep kCheckMachine{
    "check_machine", "Check the machine with `fusegate doctor` and measure again"};
inline constexpr NextStep kFixInput{"fix_input", "Mend what the headline names, and call it again"};

// For one benchmark.
NextStep next_step(const baselines::Verdict& verdict);

// What is left of an effect without the clock: "at equal clock"; "in cycles" where these show it
// and time at equal clock does not, as nothing showed how far time follows the clock.
struct WithoutClock {
  std::string_view where;
  double effect = 0;
};
WithoutClock without_clock(const baselines::Estimates& estimates);

// Every kind: what failed the gate first, what is unchanged last.
inline constexpr std::array kVerdictOrder{
    baselines::VerdictKind::kRegression,   baselines::VerdictKind::kInvalid,
    baselines::VerdictKind::kMissing,      baselines::VerdictKind::kImprovement,
    baselines::VerdictKind::kInconclusive, baselines::VerdictKind::kNew,
    baselines::VerdictKind::kUnchanged,    baselines::VerdictKind::kIdentical};

struct VerdictGroup {
  baselines::VerdictKind kind;
  std::vector<const baselines::Verdict*> verdicts;  // the largest effect first, then by name
};

// Those that occur, in that order. Points into the verdicts.
// Without regressions that are accepted.
std::vector<VerdictGroup> group_verdicts(const std::vector<baselines::Verdict>& verdicts);

// "2 regressions", "1 improvement", "40 unchanged".
std::string count_text(std::size_t count, baselines::VerdictKind kind);

}  // namespace fusegate::ci
