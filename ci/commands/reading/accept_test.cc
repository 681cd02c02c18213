#include <pwd.h>
#include <unistd.h>

#include "baselines/io/file_io.h"
#include "baselines/record/baseline.h"
#include "ci/commands/reading/command_test.h"

namespace fusegate::ci {
namespace {

class AcceptCommandTest : public CommandTest<AcceptRequest, accept_command> {
 protected:
  AcceptCommandTest() {
    run_is({});
    request_.reason = "first on this driver";
    request_.who = "somebody";
    request_.store = folder_.path() / "store";
  }

  void run_is(const FakeRunFile& file, int processes = 5) {
    fs::remove_all(folder_.path() / "run");
    request_.runs = {write_run(folder_, "run", file, processes)};
  }
  void accept_as(const std::string& reason) {
    request_.reason = reason;
    EXPECT_EQ(run(), kNoRegression);
  }
  fs::path stored(const std::string& suite = "smoke") const {
    return folder_.path() / "store" / "nvidia-h200" / (suite + ".json");
  }
  fs::path anchor() const { return baselines::anchor_path(stored()); }
  static std::string reason_of(const fs::path& baseline) {
    return baselines::read_baseline(baseline).acceptance.reason;
  }
};

TEST_F(AcceptCommandTest, StoresTheRunWithWhoAndWhy) {
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_THAT(out_.str(), StartsWith("recorded " + stored().string() +
                                     ", also as anchor\nfinds slowdowns of 4."));
  EXPECT_THAT(out_.str(), HasSubstr(" in half of the benchmarks and 4."));
  EXPECT_THAT(out_.str(), EndsWith(" in nine tenths, on this card\n"));
  EXPECT_EQ(err_.str(), "");
  const baselines::Baseline baseline = baselines::read_baseline(stored());
  EXPECT_EQ(baseline.acceptance.who, "somebody");
  EXPECT_EQ(baseline.acceptance.reason, "first on this driver");
  EXPECT_THAT(baseline.acceptance.when, StartsWith("20"));
  EXPECT_EQ(baseline.run.benchmarks.size(), 2u);
}

TEST_F(AcceptCommandTest, WarnsOfFewProcessesAndSoDoesShow) {
  const auto shown = [&](const fs::path& path) {
    std::ostringstream out;
    Console console{out, out};
    show_command({.paths = {path}}, console);
    return out.str();
  };
  const std::string few = "The baseline has 3 processes on each card; at least 4 are needed";
  run_is({}, 3);
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_THAT(err_.str(), StartsWith("warning: " + few));
  EXPECT_THAT(shown(stored()), HasSubstr("note: " + few));
  EXPECT_THAT(shown(request_.runs.front()), Not(HasSubstr("are needed"))) << "not accepted yet";
  run_is({}, 4);
  run();
  EXPECT_EQ(err_.str(), "");
  EXPECT_THAT(shown(stored()), Not(HasSubstr("are needed")));
}

TEST_F(AcceptCommandTest, WarnsWhereProcessesChoseOtherKernels) {
  FakeRunFile file;
  const std::string name = file.times.begin()->first;
  const auto add_run_of = [&](const std::string& choice) {
    file.choices = {{name, {{"down", choice}}}};
    request_.runs.emplace_back(write_run(folder_, choice.substr(0, 5), file, 4));
  };
  request_.runs.clear();
  add_run_of("tuned: candidate 1 of 2, a");
  request_.store = folder_.path() / "one";
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_EQ(err_.str(), "");
  file.date = "2026-11-22T02:53:32+00:00";
  add_run_of("pinned: candidate 2 of 2, b");
  request_.store = folder_.path() / "two";
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_THAT(err_.str(), StartsWith("warning: autotuning chose other kernels in some processes "
                                     "of 1 benchmark, "));
  EXPECT_THAT(err_.str(), HasSubstr(name));
}

class AddedCards : public AcceptCommandTest {
 protected:
  // Of one benchmark the code is always the same.
  void measured_on(const std::string& card, const std::string& code) {
    FakeRunFile file{.card = card};
    const auto& [changed, same] = names_;
    file.codes = {{changed, code}, {same, "c"}};
    run_is(file, 4);
  }
  // Of each benchmark.
  std::vector<std::size_t> stored_processes() const {
    std::vector<std::size_t> counts;
    for (const auto& series : baselines::read_baseline(stored()).run.benchmarks) {
      counts.push_back(series.processes.size());
    }
    return counts;
  }

  std::pair<std::string, std::string> names_{FakeRunFile{}.times.begin()->first,
                                             std::next(FakeRunFile{}.times.begin())->first};
};

TEST_F(AddedCards, StayWhereCodeIsIdentical) {
  measured_on("GPU-a", "c");
  accept_as("first");
  request_.add = true;
  measured_on("GPU-b", "c");
  accept_as("another card");
  EXPECT_THAT(stored_processes(), testing::ElementsAre(8, 8));
  EXPECT_THAT(out_.str(), HasSubstr(", on these 2 cards"));
  EXPECT_EQ(err_.str(), "");
  measured_on("GPU-c", "other");
  accept_as("a faster one");
  EXPECT_THAT(stored_processes(), testing::ElementsAre(4, 12));
  EXPECT_EQ(err_.str(),
            "note: of 1 benchmark this run's processes alone are stored, since the code "
            "is another than the stored one's or unknown: " +
                names_.first + "\n");
  EXPECT_THAT(baselines::read_baseline(stored()).run.cards,
              testing::UnorderedElementsAre("GPU-a", "GPU-b", "GPU-c"));
  measured_on("GPU-a", "other");
  accept_as("the first again");
  EXPECT_THAT(stored_processes(), testing::ElementsAre(8, 12))
      << "a card's earlier processes are replaced";
  request_.add = false;
  accept_as("anew");
  EXPECT_THAT(stored_processes(), testing::ElementsAre(4, 4));
}

TEST_F(AddedCards, NeedABaselineOfTheSameEnvironment) {
  request_.add = true;
  EXPECT_THAT(problem(), HasSubstr("--add: this baseline is not stored yet; leave out --add"));
  EXPECT_FALSE(fs::exists(stored()));
  request_.add = false;
  run();
  const std::string before = baselines::read_file(stored());
  request_.add = true;
  run_is({.driver = "999.0"});
  EXPECT_THAT(problem(), AllOf(HasSubstr("driver"), HasSubstr("is \"999.0\", but \"580.159.04\"")));
  EXPECT_EQ(baselines::read_file(stored()), before);
}

TEST_F(AcceptCommandTest, ALinkedBaselineStaysALink) {
  const fs::path kept = folder_.path() / "kept" / "h200.json";
  fs::create_directories(stored().parent_path());
  fs::create_directories(kept.parent_path());
  fs::create_symlink("../../kept/h200.json", stored());
  run();  // it leads nowhere yet
  EXPECT_TRUE(fs::is_symlink(stored()));
  const FakeRunFile second{.date = "2026-11-22T02:53:32+00:00"};
  run_is(second);
  run();
  EXPECT_TRUE(fs::is_symlink(stored()));
  EXPECT_EQ(baselines::read_baseline(kept).run.provenance.date, second.date);
  EXPECT_FALSE(fs::is_symlink(anchor()));
}

TEST_F(AcceptCommandTest, NeedsAReason) {
  request_.reason = " \n";
  EXPECT_THAT(problem(), StartsWith("--reason: "));
  EXPECT_FALSE(fs::exists(stored()));
}

TEST_F(AcceptCommandTest, RefusesARunThatIsNoBaselineUnlessForced) {
  run_is({.failures = {{"a/b", "wrong results"}}, .dirty = true}, 1);
  EXPECT_THAT(problem(), AllOf(HasSubstr("a/b"), HasSubstr("uncommitted"),
                               HasSubstr("fewer than two"), HasSubstr("--force")));
  EXPECT_FALSE(fs::exists(stored()));
  EXPECT_FALSE(fs::exists(anchor()));
  request_.force = true;
  EXPECT_EQ(run(), kNoRegression);
  EXPECT_TRUE(fs::exists(stored()));
}

TEST_F(AcceptCommandTest, NeverAcceptsWhatDidNotFinish) {
  run_is({}, 2);
  const std::string third =
      folder_.write("run/3.json", run_file_text({.finished = false})).string();
  EXPECT_THAT(
      problem(),
      HasSubstr("not accepted: 1 process did not finish and is left out: " + third + " (--force"));
  request_.force = true;
  run();
  EXPECT_THAT(err_.str(), HasSubstr("note: 1 process did not finish and is left out: " + third));
  const baselines::Baseline baseline = baselines::read_baseline(stored());
  EXPECT_EQ(baseline.run.benchmarks.at(0).processes.size(), 2u);
}

TEST_F(AcceptCommandTest, TheFirstIsTheAnchorAndStaysItUntilItIsReplaced) {
  accept_as("first");
  EXPECT_FALSE(fs::exists(anchor()));
  accept_as("second");
  EXPECT_THAT(out_.str(), StartsWith("recorded " + stored().string() + "\n"));
  EXPECT_EQ(reason_of(stored()), "second");
  EXPECT_EQ(reason_of(anchor()), "first");
  accept_as("third");
  EXPECT_EQ(reason_of(anchor()), "first");
  request_.replace_anchor = true;
  accept_as("cuBLAS 13.2");
  EXPECT_THAT(out_.str(), HasSubstr(", also as anchor"));
  EXPECT_FALSE(fs::exists(anchor()));
  EXPECT_EQ(reason_of(stored()), "cuBLAS 13.2");
}

TEST_F(AcceptCommandTest, StoresForAnotherSuiteWithAnAnchorOfItsOwn) {
  accept_as("first");
  accept_as("second");
  request_.suite = "pr";
  run();
  EXPECT_EQ(baselines::read_baseline(stored("pr")).run.provenance.suite, "pr");
  EXPECT_TRUE(fs::exists(anchor()));
  EXPECT_FALSE(fs::exists(baselines::anchor_path(stored("pr"))));
}

TEST_F(AcceptCommandTest, NeedsASuiteThatCanBeAFilesName) {
  run_is({.suite = ""});
  EXPECT_THAT(problem(), HasSubstr("context.fusegate.suite"));
  request_.suite = "../x";
  EXPECT_THAT(problem(), HasSubstr("cannot be a file's name"));
}

TEST_F(AcceptCommandTest, KeepsABaselineOfTheSameEnvironmentWhereAsked) {
  request_.if_missing = true;
  accept_as("first");
  EXPECT_THAT(out_.str(), StartsWith("recorded "));
  accept_as("second");
  EXPECT_EQ(out_.str(), "kept " + stored().string() + "\n");
  EXPECT_EQ(reason_of(stored()), "first");
  run_is({.driver = "999.0"});
  accept_as("third");
  EXPECT_EQ(reason_of(stored()), "third");
  // It looks in the other stores too.
  request_.stores = {request_.store};
  request_.store = folder_.path() / "local";
  accept_as("fourth");
  EXPECT_THAT(out_.str(), StartsWith("kept "));
  EXPECT_FALSE(fs::exists(folder_.path() / "local"));
}

// As in a container: git knows nobody, and no variable names anybody.
TEST_F(AcceptCommandTest, FindsANameWithoutGitAndWithoutVariables) {
  for (const char* name : {"USER", "LOGNAME", "HOME", "XDG_CONFIG_HOME"}) unsetenv(name);
  setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
  setenv("GIT_DIR", folder_.path().c_str(), 1);
  request_.who = "";
  run();
  const passwd* const login = getpwuid(geteuid());
  EXPECT_EQ(baselines::read_baseline(stored()).acceptance.who,
            login != nullptr ? login->pw_name : fmt::format("user {}", geteuid()));
}

}  // namespace
}  // namespace fusegate::ci
