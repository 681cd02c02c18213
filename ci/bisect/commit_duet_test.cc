#include "ci/bisect/commit_duet.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "ci/processes/child_process.h"
#include "tests/fakes/fake_bench.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using baselines::VerdictKind;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using tests::FakeBench;
using tests::FakeRunFile;
using tests::write_bench;

// Programs of twelve benchmarks, of which each may run other code.
class CommitDuetTest : public ::testing::Test {
 protected:
  CommitDuetTest() {
    for (int i = 1; i <= 12; ++i) {
      file_.times[fmt::format("a{:02}", i)] = 20000;
      file_.codes[fmt::format("a{:02}", i)] = "0f";
    }
    request_.benchmark = "a07";
    request_.measuring.suite = "smoke";
    add("good", file_);
  }

  void add(const std::string& name, const FakeRunFile& file) {
    const int phase = static_cast<int>(runs_.size()) % 3;
    runs_.push_back({write_bench(folder_, name, {.file = file, .phase = phase}),
                     folder_.path() / "runs" / name});
  }
  FakeRunFile changed(double factor, const std::string& code, const std::string& also = "") {
    FakeRunFile file = file_;
    file.times["a07"] *= factor;
    for (const std::string& name : {std::string("a07"), also}) {
      if (!name.empty()) file.codes[name] = code;
    }
    return file;
  }
  bool measure() {
    Console console{out_, err_};
    return measure_side_by_side(request_, runs_, console);
  }
  VerdictKind verdict(std::size_t base, std::size_t head) {
    return judged_duet(request_, runs_[base].folder, runs_[head].folder).verdict.kind;
  }
  std::string calls() const { return baselines::read_file(folder_.path() / "calls"); }

  baselines::ScratchFolder folder_;
  FakeRunFile file_{.times = {}};
  SideBySideRequest request_;
  std::vector<CommitRun> runs_;
  std::ostringstream out_, err_;
};

TEST_F(CommitDuetTest, MeasuresTheBenchmarkAndControlsAlone) {
  add("bad", changed(1.05, "1e", "a09"));
  ASSERT_TRUE(measure());
  EXPECT_EQ(verdict(0, 1), VerdictKind::kRegression);
  EXPECT_THAT(err_.str(), HasSubstr("10 of 11 benchmarks run identical code: measuring the other "
                                    "1, and 6 of the identical ones as controls"));
  EXPECT_THAT(calls(), AllOf(HasSubstr("a07"), Not(HasSubstr("a09"))));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(CommitDuetTest, AlsoWhereAllOthersAreControls) {
  file_.times.erase("a12");
  for (int i = 1; i <= 5; ++i) file_.times.erase(fmt::format("a{:02}", i));
  for (int i = 1; i <= 5; ++i) file_.codes.erase(fmt::format("a{:02}", i));
  file_.codes.erase("a12");
  runs_.clear();
  add("few", file_);
  add("bad", changed(1.05, "1e", "a09"));
  ASSERT_TRUE(measure());
  EXPECT_THAT(calls(), AllOf(HasSubstr("a07"), HasSubstr("a08"), Not(HasSubstr("a09"))));
}

TEST_F(CommitDuetTest, MeasuresNoIdenticalCode) {
  add("same", changed(1.3, "0f"));
  ASSERT_TRUE(measure());
  EXPECT_EQ(verdict(0, 1), VerdictKind::kIdentical);
  EXPECT_FALSE(fs::exists(folder_.path() / "calls"));
}

TEST_F(CommitDuetTest, ComparesThreeProgramsOfOneSession) {
  add("half", changed(1, "1e"));
  add("bad", changed(1.05, "2d"));
  ASSERT_TRUE(measure());
  EXPECT_EQ(verdict(0, 1), VerdictKind::kUnchanged);
  EXPECT_EQ(verdict(1, 2), VerdictKind::kRegression);
}

TEST_F(CommitDuetTest, OfProgramsThatDoNotSayWhatTheyRunTheBenchmarkAndNamedControls) {
  file_.codes.clear();
  runs_.clear();
  add("mute", file_);
  FakeRunFile bad = file_;
  bad.times["a07"] *= 1.05;
  add("bad", bad);
  request_.judging.controls = {"^a1"};
  ASSERT_TRUE(measure());
  EXPECT_EQ(verdict(0, 1), VerdictKind::kRegression);
  EXPECT_THAT(calls(), HasSubstr(" 1 ^(a07)"));
  const auto run = baselines::read_file(runs_[0].folder / "1.json");
  EXPECT_THAT(run,
              AllOf(HasSubstr("a07"), HasSubstr("a10"), HasSubstr("a12"), Not(HasSubstr("a08"))));
}

TEST_F(CommitDuetTest, NamesNearBenchmarksWhereNeitherHasIt) {
  add("bad", changed(1.05, "1e"));
  request_.benchmark = "a077";
  try {
    measure();
    FAIL();
  } catch (const baselines::InputError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("--benchmark: neither commit has a077 in suite smoke"),
                      HasSubstr("near: a07")));
  }
}

TEST_F(CommitDuetTest, BuildsTwoCommitsAndGivesEffectIntervalAndVerdict) {
  add("bad", changed(1.05, "1e"));
  folder_.write("checkout/bench", "#!/bin/sh\nexec \"$(cat \"${0%/*}\"/which)\" \"$@\"\n");
  const std::string made = output_of(
      {"sh", "-c",
       R"sh(cd "$1/checkout" && chmod +x bench && export GIT_CONFIG_GLOBAL=/dev/null && git init -q &&
         for which in good bad; do
           echo "$1/$which" > which && git add .
           git -c user.name=me -c user.email=me@here commit -qm "$which" && git tag "$which"
         done 2>&1 > /dev/null; git log --format=%s)sh",
       "sh", folder_.path().string()});
  ASSERT_EQ(made, "bad\ngood");
  const fs::path checkout = folder_.path() / "checkout";
  Console console{out_, err_};
  const CommitDuet duet = duet_of_commits({.build = {checkout, "", "bench"},
                                           .good = "good",
                                           .bad = "bad",
                                           .measuring = request_,
                                           .folder = folder_.path() / "duet"},
                                          console);
  EXPECT_EQ(duet.verdict.kind, VerdictKind::kRegression);
  EXPECT_TRUE(duet.differs());
  EXPECT_FALSE(duet.interrupted);
  EXPECT_NEAR(duet.verdict.estimates.effect, 0.05, 0.001);
  EXPECT_LT(duet.verdict.estimates.interval.low, 0.05);
  EXPECT_GT(duet.verdict.estimates.interval.high, 0.05);
}

}  // namespace
}  // namespace fusegate::ci
