#include "ci/calibrating/experiment.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "baselines/io/error.h"
#include "ci/measuring/run_record.h"
#include "ci/processes/fake_program.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

TEST(ExperimentRounds, HaveEveryVariantOnceInARandomOrder) {
  const auto rounds = experiment_rounds(5, 40, 1);
  ASSERT_THAT(rounds, SizeIs(40));
  std::set<std::size_t> firsts;
  for (auto round : rounds) {
    firsts.insert(round.front());
    std::ranges::sort(round);
    EXPECT_THAT(round, ElementsAre(0, 1, 2, 3, 4));
  }
  EXPECT_THAT(firsts, SizeIs(5));
  EXPECT_EQ(experiment_rounds(5, 40, 1), rounds);
  EXPECT_NE(experiment_rounds(5, 40, 2), rounds);
}

class ExperimentTest : public ::testing::Test {
 protected:
  ExperimentTest() {
    request_.suite = "smoke";
    request_.flags = {"--common"};
    request_.variants = {{"wide", {"--spread=400"}}, {"none", {}}};
    request_.invocations = 3;
    request_.out = folder_.path() / "experiment";
    request_.seed = 1;
    // The third benchmark's time moves from process to process by what the variant's flag says.
    request_.program = write_script(
        folder_, "bench",
        std::string(kReadFlags) + "spread=0\n" +
            "for a in \"$@\"; do case $a in --spread=*) spread=${a#--spread=} ;; esac; done\n" +
            "echo \"$out $*\" >>'" + (folder_.path() / "calls").string() + "'\n" +
            "sed \"s/777777/$((700000 + spread * invocation))/\" '" +
            folder_.write("prepared", prepared()).string() + "' >\"$out.moved\"\n" +
            "leave \"$out.moved\" \"$out\" && rm \"$out.moved\"\n");
  }

  static std::string prepared() {
    FakeRunFile file;
    file.times = {{"linear/addmm", 700000}};
    std::string text = run_file_text(file);
    for (const char* time : {"700000.0", "699930.0", "700070.0"}) {
      const std::string from = time;
      for (auto at = text.find(from); at != text.npos; at = text.find(from, at)) {
        text.replace(at, from.size(), "777777");
      }
    }
    return text;
  }
  baselines::ExitCode measure() {
    Console console{out_, err_};
    return measure_experiment(request_, console);
  }

  baselines::ScratchFolder folder_;
  ExperimentRequest request_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(ExperimentTest, LeavesARunFolderAVariant) {
  EXPECT_EQ(measure(), baselines::ExitCode::kNoRegression) << err_.str();
  for (const char* variant : {"wide", "none"}) {
    const RunRecord record = read_run_record(request_.out / variant);
    EXPECT_THAT(record.invocations, SizeIs(3)) << variant;
    EXPECT_EQ(last_invocation_in(request_.out / variant), 3);
  }
  EXPECT_THAT(read_run_record(request_.out / "wide").flags,
              ElementsAre("--common", "--spread=400"));
  EXPECT_THAT(err_.str(), HasSubstr("process 6/6: "));
  EXPECT_THAT(baselines::read_file(folder_.path() / "calls"), HasSubstr("--suite=smoke"));
}

TEST_F(ExperimentTest, TablesWhatEachVariantSpreads) {
  measure();
  const Section section = experiment_section(request_.out);
  EXPECT_THAT(section.sentences.front(), HasSubstr("Suite smoke --common."));
  ASSERT_THAT(section.table.rows(), SizeIs(2));
  EXPECT_EQ(section.table.rows()[0][0], "wide");
  EXPECT_EQ(section.table.rows()[0][1], "3");
  // 700.4, 700.8 and 701.2 us: a standard deviation of 0.4 of 700.8.
  EXPECT_THAT(section.table.rows()[0][3].text, HasSubstr("/ 0.057"));
  EXPECT_THAT(section.table.rows()[1][3].text, HasSubstr("0.000"));
  EXPECT_EQ(section.table.rows()[0][4], "-");
  EXPECT_EQ(section.table.rows()[1][12], "-0.11 %");
  EXPECT_EQ(section.table.rows()[0].back(), "--spread=400");
}

TEST_F(ExperimentTest, ShowsAVariantThatWasNeverMeasured) {
  measure();
  fs::remove_all(request_.out / "none");
  const Section section = experiment_section(request_.out);
  EXPECT_EQ(section.table.rows().at(1).at(1), "0");
  EXPECT_EQ(section.table.rows().at(1).at(2), "-");
}

TEST_F(ExperimentTest, DoesNotMixWithAnEarlierOne) {
  measure();
  EXPECT_THAT([&] { measure(); },
              ThrowsMessage<baselines::InputError>(HasSubstr("already holds an experiment")));
}

TEST_F(ExperimentTest, NamesTheVariantThatCannotBeMeasured) {
  request_.program = write_script(folder_, "refuses", "echo 'no such flag' >&2; exit 2\n");
  EXPECT_THAT([&] { measure(); }, ThrowsMessage<baselines::InputError>(::testing::AllOf(
                                      HasSubstr("variant: "), HasSubstr("no such flag"))));
}

TEST_F(ExperimentTest, GoesOnAfterAProcessThatCrashed) {
  const std::string bench = request_.program;
  request_.program =
      write_script(folder_, "crashes",
                   "case \"$*\" in *invocation=2*) kill -SEGV $$ ;; esac\n" + bench + " \"$@\"\n");
  EXPECT_EQ(measure(), baselines::ExitCode::kCouldNotJudge);
  EXPECT_THAT(read_run_record(request_.out / "wide").invocations, SizeIs(3));
  EXPECT_EQ(experiment_section(request_.out).table.rows().at(0).at(1), "2");
}

TEST_F(ExperimentTest, StartsNoRoundBeyondItsBudget) {
  request_.budget_s = 1e-9;
  EXPECT_EQ(measure(), baselines::ExitCode::kNoRegression);
  EXPECT_EQ(last_invocation_in(request_.out / "wide"), 0);
  EXPECT_THAT(err_.str(), HasSubstr("time budget is used up"));
}

}  // namespace
}  // namespace fusegate::ci
