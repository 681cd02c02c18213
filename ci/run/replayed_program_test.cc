#include "ci/run/replayed_program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <sstream>

#include "tests/fakes/fake_program.h"

namespace fusegate::ci {
namespace {

using tests::write_script;

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ReplayedProgramTest : public ::testing::Test {
 protected:
  // A program in a folder of its own, beside its suite. It refuses suites that hold the word.
  std::string program(const std::string& name, const std::string& suite,
                      const std::string& refused = "nothing") {
    folder_.write(name + "/suites/pr.json", suite);
    return write_script(folder_, name + "/fusegate_bench",
                        "for argument in \"$@\"; do case $argument in --suite=*) "
                        "suite=${argument#--suite=} ;; esac; done\n"
                        "case $suite in */*) ;; *) suite=\"${0%/*}/suites/$suite.json\" ;; esac\n"
                        "if grep -q " +
                            refused +
                            " \"$suite\"; then echo 'unknown key' >&2; exit 2; fi\n"
                            R"(echo '{"environment": {"device": "NVIDIA H200", "ecc": true}}')");
  }
  std::string suite_of(const std::string& name) const {
    return (folder_.path() / name / "suites" / "pr.json").string();
  }
  // A checkout whose script for building does that.
  fs::path checkout(const std::string& script) {
    fs::create_directories(folder_.path() / "checkout/ci/pipelines");
    write_script(folder_, "checkout/ci/pipelines/build_commit.sh", script);
    return folder_.path() / "checkout";
  }
  BuiltProgram build(const std::string& script) {
    Console console{out_, err_};
    return program_of_commit(checkout(script), "abc", console);
  }

  baselines::ScratchFolder folder_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(ReplayedProgramTest, AProgramReportsItsEnvironmentOrWhyNot) {
  const std::string bench = program("bench", R"({"protocol": {}})", "protocol");
  EXPECT_EQ(environment_of(program("old", "{}"), "pr", {}).environment.at("device"), "NVIDIA H200");
  EXPECT_EQ(environment_of(bench, "pr", {}).failure, "exit code 2: unknown key");
  EXPECT_THAT(environment_of(bench + "s", "pr", {}).failure, HasSubstr("cannot be started"));
  const std::string mute = write_script(folder_, "mute", "echo hello");
  EXPECT_THAT(environment_of(mute, "pr", {}).failure, HasSubstr("mute --environment"));
}

TEST_F(ReplayedProgramTest, EachMeasuresItsOwnSuite) {
  const std::string head = program("head", R"({"protocol": {"samples": 3}, "sweeps": "more"})");
  const std::string base = program("base", R"({"protocol": {"samples": 3}})");
  // By its file too, which the head's own gate.sh may name.
  for (const std::string& suite : {std::string("pr"), suite_of("head")}) {
    const SuitePair suites = suites_of(suite, base, head, {});
    EXPECT_EQ(suites.base, suite_of("base"));
    EXPECT_EQ(suites.head, suite_of("head"));
    EXPECT_THAT(suites.remark, HasSubstr("each measures its own"));
  }
  EXPECT_EQ(suites_of("mine.json", base, head, {}).base, "mine.json");
  EXPECT_EQ(suites_of("other", base, head, {}).head, "other");
}

TEST_F(ReplayedProgramTest, SuitesOfPythonKernelsLieBesideTheirFile) {
  program("base", R"({"protocol": {"samples": 3}})");
  program("head", R"({"protocol": {"samples": 3}, "sweeps": "more"})");
  const auto command = [&](const char* side) {
    return fmt::format("env A=1 bench '{}/{}/kernels.py' --all", folder_.path().string(), side);
  };
  const SuitePair suites = suites_of("pr", command("base"), command("head"), {});
  EXPECT_EQ(suites.base, suite_of("base"));
  EXPECT_EQ(suites.head, suite_of("head"));
}

TEST_F(ReplayedProgramTest, SuitesOfOneTextAreOne) {
  const std::string head = program("head", R"({"sweeps": "same"})");
  const SuitePair suites = suites_of("pr", program("base", R"({"sweeps": "same"})"), head, {});
  EXPECT_EQ(suites.base, suite_of("head"));
  EXPECT_EQ(suites.remark, "");
}

TEST_F(ReplayedProgramTest, BothMeasureTheSuiteOfTheHeadWhereTheBaseHasNoneOfThatProtocol) {
  const std::string head = program("head", R"({"protocol": {"samples": 3}})");
  const std::string base = program("base", R"({"protocol": {"samples": 9}})");
  EXPECT_EQ(suites_of("pr", base, head, {}).base, suite_of("head"));
  EXPECT_THAT(suites_of("pr", base, head, {}).remark,
              HasSubstr("both programs measure the candidate's"));
  std::filesystem::remove(suite_of("base"));
  EXPECT_EQ(suites_of("pr", base, head, {}).base, suite_of("head"));
  EXPECT_EQ(suites_of("pr", base, head, {}).remark, "");
}

TEST_F(ReplayedProgramTest, BothMeasureTheSuiteOfTheBaseWhereTheProtocolsDiffer) {
  const std::string head = program("head", R"({"protocol": {"samples": 3, "new": 1}})");
  const std::string base = program("base", R"({"protocol": {"samples": 3}})", "new");
  const SuitePair suites = suites_of("pr", base, head, {});
  EXPECT_EQ(suites.base, suite_of("base"));
  EXPECT_EQ(suites.head, suite_of("base"));
  EXPECT_THAT(suites.remark, HasSubstr("both measure the baseline's"));
}

TEST_F(ReplayedProgramTest, AProgramIsBuiltOfItsCommit) {
  const BuiltProgram built = build("echo building >&2; echo \"/kept/$1/fusegate_bench\"");
  EXPECT_EQ(built.program, "/kept/abc/fusegate_bench");
  EXPECT_EQ(built.failure, "");
  EXPECT_EQ(err_.str(), "building\n");
}

TEST_F(ReplayedProgramTest, WhatCannotBeBuiltSaysWhy) {
  const BuiltProgram broken =
      build("echo half; echo 'does not build (the log: a.log)' >&2; exit 2");
  EXPECT_EQ(broken.program, "");
  EXPECT_EQ(broken.failure, "does not build (the log: a.log)");
  EXPECT_FALSE(broken.interrupted);
  EXPECT_THAT(build("exit 2").failure, HasSubstr("build_commit.sh failed"));
  EXPECT_THAT(build("exit 0").failure, HasSubstr("build_commit.sh failed"));
  Console console{out_, err_};
  EXPECT_THAT(program_of_commit(folder_.path() / "none", "abc", console).failure,
              HasSubstr("cannot be started"));
}

TEST_F(ReplayedProgramTest, ABuildCanBeInterrupted) {
  EXPECT_TRUE(build("kill -INT $PPID; sleep 60").interrupted);
}

}  // namespace
}  // namespace fusegate::ci
