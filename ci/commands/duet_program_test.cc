// fusegate duet from end to end.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/io/file_io.h"
#include "ci/commands/program_test.h"
#include "ci/measuring/run_record.h"

namespace fusegate::ci {
namespace {

using ::testing::HasSubstr;

constexpr const char* kFused = "geglu/fused/bf16/batch:64/seq:128/dim:768/hidden:3072";

TEST_F(ProgramTest, DuetPassesUnchangedCodeAndFailsSlowedCode) {
  const std::string base = write_bench(folder_, "base-bench", {});
  FakeRunFile slowed;
  slowed.times[kFused] *= 1.05;
  const auto duet = [&](const std::string& head, const std::string& out) {
    return fusegate({"duet", "--suite", "smoke", "--base", base, "--head", head, "--out", path(out),
                     "--aa-history", path("aa.jsonl"), "--json", path("gate.json")});
  };
  const Ended same = duet(write_bench(folder_, "same", {.phase = 1}), "first");
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  const Ended slower = duet(write_bench(folder_, "slower", {.file = slowed, .phase = 1}), "second");
  EXPECT_EQ(slower.code, 1) << slower.out << slower.err;
  EXPECT_THAT(slower.out, HasSubstr("so far 0 of 2 comparisons raised an alarm"));
  const auto json = nlohmann::json::parse(baselines::read_file(path("gate.json")));
  for (const auto& verdict : json["verdicts"]) {
    EXPECT_EQ(verdict["verdict"] == "regression", verdict["benchmark"] == kFused) << verdict;
  }
}

TEST_F(ProgramTest, DuetNamesWhatItCannotUse) {
  const std::string bench = program("bench", {});
  const std::string missing = path("missing");
  const auto duet = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"duet", "--suite", "smoke",     "--base",
                                       bench,  "--out",   path("duet")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fusegate(arguments);
  };
  expect_error(duet({"--head", bench, "--max-invocations", "6"}), {"--max-invocations", "6"});
  folder_.write("aa.jsonl", "{\"when\": 5}\n");
  expect_error(duet({"--head", bench, "--aa-history", path("aa.jsonl")}),
               {"aa.jsonl: line 1", "when"});
  const Ended not_there = duet({"--head", missing});
  EXPECT_EQ(not_there.code, 2);
  EXPECT_THAT(not_there.err, HasSubstr("fusegate: " + missing + ": cannot be started"));
}

TEST_F(ProgramTest, DuetKeepsWhatWasMeasuredWhenInterrupted) {
  const std::string head = program("head", {}, R"sh(
      if [ $invocation = 2 ]; then
        (sleep 0.3; echo '@fusegate {"event":"benchmark","index":1,"total":2,"benchmark":"ready",
            "failure":"x"}' | tr -d '\n'; echo) &
        exec sleep 60
      fi)sh");
  const Interrupts interrupts;
  const Ended ended = fusegate({"duet", "--suite", "smoke", "--base", program("base", {}), "--head",
                                head, "--out", path("duet"), "--json", path("gate.json")},
                               &interrupts);
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("fusegate: interrupted; 1 finished invocation kept in "));
  EXPECT_FALSE(read_run_record(path("duet/head")).finished);
  EXPECT_EQ(nlohmann::json::parse(baselines::read_file(path("gate.json")))["exit_code"], 2);
}

}  // namespace
}  // namespace fusegate::ci
