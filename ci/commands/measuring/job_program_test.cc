// fusegate job from end to end.
#include <cstdlib>

#include "ci/commands/measuring/program_test.h"

namespace fusegate::ci {
namespace {

// In a folder of a checkout.
class JobProgramTest : public ProgramTest {
 protected:
  JobProgramTest() {
    fs::create_directories(path("checkout/.git"));
    fs::create_directories(path("checkout/sub"));
    fs::current_path(path("checkout/sub"));
  }
  ~JobProgramTest() override { fs::current_path(before_); }

  Ended job(const std::string& program, const std::vector<std::string>& more = {},
            const Interrupts* interrupts = nullptr) {
    std::vector<std::string> arguments{"job", "--processes", "5", "--program", program};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fusegate(arguments, interrupts);
  }
  // A program that is slower, and in its fourth process does that.
  std::string slowed(const std::string& what) {
    return write_bench(
        folder_, "slowed",
        {.file = ci::slowed(), .phase = 1, .more = "[ $process != 4 ] || { " + what + "\n}"});
  }
  std::string latest(const std::string& name) const {
    return read_file(path("checkout/.fusegate/reports/latest/" + name));
  }
  void expect_no_verdict(const std::string& why) const {
    const auto json = nlohmann::json::parse(latest("gate.json"));
    EXPECT_EQ(json["exit_code"], 2);
    EXPECT_THAT(json["headline"], HasSubstr(why));
    EXPECT_THAT(latest("gate.md"), HasSubstr(why));
  }

 private:
  const fs::path before_ = fs::current_path();
};

TEST_F(JobProgramTest, KeepsAllInTheCheckout) {
  const Ended first = job(write_bench(folder_, "bench", {}), {"--who", "me", "--started-s", "70"});
  EXPECT_EQ(first.code, 0) << first.out << first.err;
  EXPECT_THAT(first.out, HasSubstr("[  70 s] measuring first and second: "));
  EXPECT_FALSE(fs::exists(path("checkout/sub/.fusegate")));
  EXPECT_EQ(nlohmann::json::parse(latest("gate.json"))["exit_code"], 0);
  EXPECT_FALSE(fs::is_empty(path("checkout/.fusegate/baselines")));
  const Ended slower = job(slowed("true"));
  EXPECT_EQ(slower.code, 1) << slower.out << slower.err;
}

TEST_F(JobProgramTest, AnInterruptedOneIsNotJudged) {
  const std::string bench = write_bench(folder_, "bench", {});
  job(bench, {"--who", "me"});
  const Interrupts interrupts;
  const std::string program = slowed(kSaysReadyAndSleeps);
  for (const std::vector<std::string>& more : {std::vector<std::string>(), {"--base", bench}}) {
    const Ended ended = job(program, more, &interrupts);
    EXPECT_EQ(ended.code, 2) << ended.out << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("fusegate: interrupted; 3 processes finished, kept in "));
    EXPECT_THAT(ended.out, Not(HasSubstr("egression")));
    expect_no_verdict("interrupted");
  }
}

TEST_F(JobProgramTest, OneThatIsKilledLeavesNoVerdict) {
  EXPECT_EQ(job(slowed("kill -KILL $PPID")).code, 128 + SIGKILL);
  expect_no_verdict("did not come to its end");
}

TEST_F(JobProgramTest, RefusesWhatABaseLeavesWithoutMeaning) {
  const std::string bench = write_bench(folder_, "bench", {});
  expect_error(job(bench, {"--base", bench, "--who", "me"}), {"--base", "--who"});
  expect_error(job(bench, {"--base", bench, "--require-baseline"}), {"--require-baseline"});
  EXPECT_FALSE(fs::exists(path("checkout/.fusegate")));
}

}  // namespace
}  // namespace fusegate::ci
