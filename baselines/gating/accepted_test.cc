#include "baselines/gating/accepted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/gating/gate.h"
#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/record/test_run.h"

namespace fusegate::baselines {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

AcceptedSlowdown entry_of(const std::string& pattern, Interval effect = {0.01, 0.04}) {
  return {.pattern = pattern,
          .effect = effect,
          .reason = "exact gelu",
          .who = "ann",
          .until = "2026-12-31"};
}

// Of a baseline of "a" and "b", where "a" is slower by the share; measured on that day.
GateResult gate_accepting(double share, const std::vector<AcceptedSlowdown>& entries,
                          const std::string& date = "2026-12-31T23:59:59Z") {
  const auto run = [&](double slower) {
    Run made =
        on_still_machine(test_run({test_series("a", slowed(slower)), test_series("b", kQuiet)}));
    made.provenance.date = date;
    return made;
  };
  GateOptions options;
  options.accepted = entries;
  return gate(run(0), run(share), options);
}

const auto pattern_is = [](const char* pattern) {
  return testing::Field(&AcceptedSlowdown::pattern, pattern);
};

TEST(Accepted, ASlowdownWithinItsRangeFailsNothing) {
  EXPECT_EQ(gate_accepting(0.03, {}).exit_code, ExitCode::kRegression);
  const GateResult result = gate_accepting(0.03, {entry_of("^a$")});
  EXPECT_EQ(result.exit_code, ExitCode::kNoRegression);
  EXPECT_EQ(result.verdicts[0].kind, VerdictKind::kRegression) << "it is one all the same";
  EXPECT_TRUE(result.verdicts[0].is_accepted());
  EXPECT_EQ(gate_accepting(0.03, {entry_of("^b$")}).exit_code, ExitCode::kRegression);
}

TEST(Accepted, ASlowdownThatOutgrewItsRangeFails) {
  const GateResult result = gate_accepting(0.05, {entry_of("^a$")});
  EXPECT_EQ(result.exit_code, ExitCode::kRegression);
  EXPECT_EQ(result.verdicts[0].accepted_state, AcceptedState::kOutgrown);
  EXPECT_EQ(gate_accepting(0.05, {entry_of("^a$"), entry_of("a", {0, 0.06})}).exit_code,
            ExitCode::kNoRegression)
      << "one that covers it counts before a longer one";
}

TEST(Accepted, AnEntryCountsUntilTheEndOfItsDay) {
  const GateResult late = gate_accepting(0.03, {entry_of("^a$")}, "2027-01-01T00:00:00Z");
  EXPECT_EQ(late.exit_code, ExitCode::kRegression);
  EXPECT_EQ(late.verdicts[0].accepted_state, AcceptedState::kExpired);
  EXPECT_THAT(late.accepted.expired, ElementsAre(pattern_is("^a$")));
}

TEST(Accepted, AnExpiredEntryThatCoversNothingIsNoPass) {
  const GateResult late = gate_accepting(0, {entry_of("^a$")}, "2027-01-01T00:00:00Z");
  EXPECT_EQ(late.exit_code, ExitCode::kCouldNotJudge);
  EXPECT_EQ(late.causes.back(), GateCause::kAcceptanceExpired);
}

TEST(Accepted, AnEntryCanGoWhereNothingIsAsSlowAnyMore) {
  EXPECT_THAT(gate_accepting(0, {entry_of("^a$")}).accepted.outlived,
              ElementsAre(pattern_is("^a$")));
  EXPECT_THAT(gate_accepting(0.005, {entry_of("^a$")}).accepted.outlived,
              ElementsAre(pattern_is("^a$")));
  EXPECT_THAT(gate_accepting(0.03, {entry_of(".")}).accepted.outlived, IsEmpty());
  EXPECT_THAT(gate_accepting(0, {entry_of("^still")}).accepted.outlived, IsEmpty())
      << "identical code shows nothing of it";
}

TEST(Accepted, WhatLooksSlowerWithinTheRangeStopsNothing) {
  const auto gate_of_two = [](const std::vector<AcceptedSlowdown>& entries) {
    GateOptions options;
    options.accepted = entries;
    return gate(on_still_machine(test_run({test_series("a", kQuiet)})),
                on_still_machine(test_run({test_series("a", scaled({1000, 1000.5}, 1.03))})),
                options);
  };
  EXPECT_EQ(gate_of_two({}).causes.front(), GateCause::kUnconfirmed);
  EXPECT_EQ(gate_of_two({entry_of("^a$")}).exit_code, ExitCode::kNoRegression);
  EXPECT_EQ(gate_of_two({entry_of("^a$", {0.01, 0.02})}).exit_code, ExitCode::kCouldNotJudge);
}

TEST(Accepted, WhatIsWrittenIsReadAgain) {
  const ScratchFolder folder;
  AcceptedSlowdown linked = entry_of("^b/");
  linked.link = "https://github.com/org/kernels/pull/7";
  const std::string text = accepted_text({entry_of("^a$"), linked});
  const auto read = read_accepted(folder.write("accepted.json", text));
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[1].link, linked.link);
  EXPECT_EQ(accepted_text(read), text);
}

TEST(Accepted, WhatIsNoEntryIsRefusedByItsField) {
  const ScratchFolder folder;
  const auto problem_of = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json list = nlohmann::json::parse(accepted_text({entry_of("^a$"), entry_of("b")}));
    if (value.is_null()) {
      list[1].erase(key);
    } else {
      list[1][key] = value;
    }
    try {
      read_accepted(folder.write("accepted.json", list.dump()));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_THAT(problem_of("odd", 1),
              HasSubstr("accepted.json: [1].odd: unknown key; known: pattern"));
  EXPECT_THAT(problem_of("pattern", "("), HasSubstr("[1].pattern: "));
  EXPECT_THAT(problem_of("pattern", "^a$"), HasSubstr("[1].pattern: is there twice"));
  EXPECT_THAT(problem_of("effect", {0.04, 0.01}), HasSubstr("[1].effect: must be two fractions"));
  EXPECT_THAT(problem_of("effect", {0.04}), HasSubstr("[1].effect: must be two fractions"));
  EXPECT_THAT(problem_of("reason", " "), HasSubstr("[1].reason: must not be empty"));
  EXPECT_THAT(problem_of("who", nullptr), HasSubstr("[1].who: is missing"));
  EXPECT_THAT(problem_of("until", "2026-02-30"), HasSubstr("[1].until: must be a day such as"));
  EXPECT_THAT(problem_of("until", "2026-12-31T00:00:00Z"), HasSubstr("[1].until: must be a day"));
  EXPECT_THAT(problem_of("link", "javascript:x"), HasSubstr("[1].link: must be an address"));
  EXPECT_THROW(read_accepted(folder.write("accepted.json", "{}")), InputError);
}

}  // namespace
}  // namespace fusegate::baselines
