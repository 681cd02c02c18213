#include "ci/run/measure_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <set>
#include <sstream>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/launches/identities.h"
#include "baselines/record/load_run.h"
#include "tests/fakes/fake_bench.h"

namespace fusegate::ci {
namespace {

using tests::FakeBench;
using tests::write_bench;

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

using enum baselines::VerdictKind;

class MeasuringRunTest : public ::testing::Test {
 protected:
  MeasuringRunTest() {
    request_.suite = "smoke";
    request_.invocations = 2;
    request_.max_processes = 6;
    request_.seed = 1;
  }

  void add_arm(const std::string& name, bool is_extended = true, const FakeBench& bench = three()) {
    request_.arms.push_back(
        {folder_.path() / name, write_bench(folder_, "bench-" + name, bench), is_extended});
  }
  static FakeBench three() { return {.file = {.times = {{"a", 1000}, {"b", 2000}, {"c", 3000}}}}; }

  // kinds: at look 1, 2, ... of benchmarks a, b and c; the last stands for all that follow.
  RunEnd measure(const std::vector<std::vector<baselines::VerdictKind>>& kinds) {
    Console console{out_, err_};
    MeasuringRun run(request_, console, [this] { return now(); });
    looks_ = 0;
    const RunEnd end = run.measure([&] {
      std::vector<baselines::Verdict> verdicts(3);
      const auto& now = kinds[std::min(looks_++, kinds.size() - 1)];
      for (std::size_t i = 0; i < 3; ++i) {
        verdicts[i].benchmark = std::string(1, static_cast<char>('a' + i));
        verdicts[i].kind = now[i];
      }
      return verdicts;
    });
    is_all_well_ = run.report();
    return end;
  }
  // A clock that only programs made by taking_ten_seconds() move on.
  double now() const {
    const fs::path clock = folder_.path() / "clock";
    return fs::exists(clock) ? static_cast<double>(baselines::read_file(clock).size()) : 0;
  }
  FakeBench taking_ten_seconds() const {
    FakeBench bench = three();
    bench.more = "printf .......... >> '" + (folder_.path() / "clock").string() + "'";
    return bench;
  }
  RunRecord record(const std::string& name) const { return read_run_record(folder_.path() / name); }
  std::vector<int> blocks(const std::string& name) const {
    std::vector<int> result;
    for (const auto& invocation : record(name).invocations) result.push_back(invocation.block);
    return result;
  }
  int extensions(const std::string& name) const {
    return static_cast<int>(
        std::ranges::count(record(name).invocations, true, &ProcessRecord::extension));
  }
  // What the programs were called with: "bench-head 3 ^(a|b)...".
  std::vector<std::string> calls() const {
    std::vector<std::string> result;
    std::istringstream lines(baselines::read_file(folder_.path() / "calls"));
    for (std::string line; std::getline(lines, line);) result.push_back(line);
    return result;
  }
  std::string order() const {
    std::string arms;
    for (const std::string& call : calls()) arms += call.substr(6, 1);
    return arms;
  }

  baselines::ScratchFolder folder_;
  MeasuringRequest request_;
  std::ostringstream out_;
  std::ostringstream err_;
  std::size_t looks_ = 0;
  bool is_all_well_ = false;
};

TEST_F(MeasuringRunTest, RecordsTheSessionAndTheBlocksOfItsArms) {
  request_.invocations = 3;
  request_.max_processes = 3;
  add_arm("A");
  add_arm("B");
  EXPECT_EQ(measure({{kRegression, kRegression, kRegression}}), RunEnd::kAll);
  EXPECT_EQ(looks_, 0u);
  EXPECT_THAT(blocks("A"), ElementsAre(1, 2, 3));
  EXPECT_THAT(blocks("B"), ElementsAre(1, 2, 3));
  EXPECT_EQ(record("A").session, record("B").session);
  EXPECT_THAT(record("A").session, SizeIs(16));
  EXPECT_TRUE(order().starts_with("ABBA") || order().starts_with("BAAB")) << order();
}

// A suite large enough to tell an odd process, in which the given invocations take eleven times as
// long or so.
FakeBench odd_in(const std::string& invocations) {
  FakeBench bench;
  bench.file.times.clear();
  for (int i = 0; i < 9; ++i) bench.file.times.emplace(fmt::format("row{}", i), 1000 + 100 * i);
  bench.more =
      "case $invocation in " + invocations + R"() sed -i 's/"real_time":/&1/g' "$out" ;; esac)";
  return bench;
}

std::vector<std::string> odd_files(const RunRecord& record) {
  std::vector<std::string> files;
  for (const ProcessRecord& invocation : record.invocations) {
    if (invocation.odd) files.push_back(invocation.file);
  }
  return files;
}

TEST_F(MeasuringRunTest, MeasuresOnceMoreWhereAProcessIsOdd) {
  request_.invocations = request_.max_processes = 4;
  add_arm("A");
  add_arm("B", true, odd_in("2"));
  EXPECT_EQ(measure({{}}), RunEnd::kAll);
  EXPECT_THAT(blocks("A"), ElementsAre(1, 2, 3, 4, 5)) << "a block is of all arms";
  EXPECT_THAT(blocks("B"), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(record("B").planned_processes, 5);
  EXPECT_EQ(extensions("B"), 0);
  EXPECT_THAT(odd_files(record("B")), ElementsAre("2.json")) << "and it is kept";
  EXPECT_GT(record("B").invocations[1].odd.value(), 5);
  EXPECT_THAT(odd_files(record("A")), IsEmpty());
  EXPECT_THAT(err_.str(), HasSubstr("B: process 2.json took"));
  EXPECT_THAT(err_.str(), HasSubstr("longer in the median over 9 benchmarks than its siblings\n"
                                    "one more of each is measured\n"));
}

TEST_F(MeasuringRunTest, MeasuresForOddProcessesTwiceAtMost) {
  request_.invocations = request_.max_processes = 7;
  add_arm("B", true, odd_in("7|8|9|10"));
  measure({{}});
  EXPECT_THAT(blocks("B"), SizeIs(9));
  EXPECT_THAT(odd_files(record("B")), ElementsAre("7.json", "8.json"));
}

TEST_F(MeasuringRunTest, MeasuresForAnOddProcessWithinTheBudgetAlone) {
  request_.invocations = request_.max_processes = 4;
  request_.budget_s = 45;
  FakeBench bench = odd_in("2");
  bench.more += "\n" + taking_ten_seconds().more;
  add_arm("B", true, bench);
  measure({{}});
  EXPECT_THAT(blocks("B"), SizeIs(4));
  EXPECT_THAT(odd_files(record("B")), ElementsAre("2.json"));
  EXPECT_THAT(err_.str(), HasSubstr("no time is left to measure it again"));
}

TEST_F(MeasuringRunTest, DrawsTheOrderFromTheSeed) {
  request_.invocations = 1;
  request_.max_processes = 1;
  request_.append = true;
  add_arm("A");
  add_arm("B");
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    fs::remove(folder_.path() / "calls");
    request_.seed = seed;
    measure({{}});
    orders.insert(order());
  }
  EXPECT_THAT(orders, ElementsAre("AB", "BA"));
}

TEST_F(MeasuringRunTest, GivesSessionsOfTheirOwnToRunsWithTheSameSeed) {
  add_arm("A");
  measure({{kUnchanged, kUnchanged, kUnchanged}});
  request_.arms.front().folder = folder_.path() / "later";
  measure({{kUnchanged, kUnchanged, kUnchanged}});
  EXPECT_NE(record("A").session, record("later").session);
}

TEST_F(MeasuringRunTest, CountsBlocksOnWhereItAppendsToOneSession) {
  add_arm("A");
  add_arm("B");
  measure({{kUnchanged, kUnchanged, kUnchanged}});
  const std::string session = record("A").session;
  request_.append = true;
  measure({{kUnchanged, kUnchanged, kUnchanged}});
  EXPECT_THAT(blocks("B"), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(record("B").session, session);
  // Beside a folder of another session blocks would mean two things.
  add_arm("C");
  measure({{kUnchanged, kUnchanged, kUnchanged}});
  EXPECT_EQ(record("A").session, "");
  EXPECT_EQ(record("C").session, "");
}

TEST_F(MeasuringRunTest, ExtendsTheUndecidedAndTheSuspiciousAndStopsWhereNothingIsLeft) {
  add_arm("A");
  add_arm("B");
  EXPECT_EQ(measure({{kRegression, kUnchanged, kInconclusive},
                     {kRegression, kUnchanged, kInconclusive},
                     {kRegression, kUnchanged, kInconclusive},
                     {kRegression, kUnchanged, kUnchanged}}),
            RunEnd::kAll);
  EXPECT_EQ(extensions("A"), 3);
  EXPECT_EQ(extensions("B"), 3);
  EXPECT_THAT(blocks("A"), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(record("A").planned_processes, 5);
  const auto lines = calls();
  ASSERT_THAT(lines, SizeIs(10));
  EXPECT_THAT(lines[3], HasSubstr(" 2 ."));
  EXPECT_THAT(lines[4], HasSubstr(" 3 ^(a|c)(/"));
  EXPECT_THAT(lines[7], HasSubstr(" 4 ^(a|c)(/"));
  EXPECT_THAT(lines[8], HasSubstr(" 5 ^(c)(/"));  // a has had as many again as the minimum
  EXPECT_THAT(err_.str(), HasSubstr("extension 3: 1 of 3 benchmarks"));
  EXPECT_THAT(out_.str(), HasSubstr("5 invocations of suite smoke in "));
  EXPECT_THAT(out_.str(), HasSubstr("A, 3 of them for what was undecided\n"));
}

TEST_F(MeasuringRunTest, InterleavesExtensionsToo) {
  add_arm("A");
  add_arm("B");
  measure({{kInconclusive, kUnchanged, kUnchanged}});
  for (std::size_t round = 0; round < 6; round += 2) {
    const std::string pair = order().substr(2 * round, 4);
    EXPECT_TRUE(pair == "ABBA" || pair == "BAAB") << pair;
  }
}

TEST_F(MeasuringRunTest, StopsAtTheMaximum) {
  add_arm("A");
  EXPECT_EQ(measure({{kInconclusive, kInconclusive, kUnchanged}}), RunEnd::kAll);
  EXPECT_EQ(extensions("A"), 4);
  EXPECT_EQ(record("A").invocations.size(), 6u);
}

TEST_F(MeasuringRunTest, LeavesArmsThatAreNotExtendedAtTheMinimum) {
  add_arm("A");
  add_arm("B", false);
  measure({{kRegression, kUnchanged, kUnchanged}});
  EXPECT_EQ(extensions("A"), 2);
  EXPECT_EQ(extensions("B"), 0);
}

TEST_F(MeasuringRunTest, StartsNoRoundOfTheMinimumThatWouldOverrunTheBudget) {
  add_arm("A", true, taking_ten_seconds());
  add_arm("B", true, taking_ten_seconds());
  request_.invocations = 3;
  request_.budget_s = 50;  // two rounds take 40 s, a third would end after 60 s
  EXPECT_EQ(measure({{kUnchanged, kUnchanged, kUnchanged}}), RunEnd::kBudget);
  EXPECT_EQ(record("A").invocations.size(), 2u);
  EXPECT_EQ(record("B").invocations.size(), 2u);
}

TEST_F(MeasuringRunTest, ExpectsAnExtensionToTakeItsShareOfARound) {
  add_arm("A", true, taking_ten_seconds());
  add_arm("B", true, taking_ten_seconds());
  add_arm("C", false, taking_ten_seconds());
  const std::vector<std::vector<baselines::VerdictKind>> one_look{
      {kInconclusive, kInconclusive, kUnchanged}, {kUnchanged, kUnchanged, kUnchanged}};
  request_.budget_s = 73;  // 60 s, and two thirds of 20 s
  EXPECT_EQ(measure(one_look), RunEnd::kBudget);
  EXPECT_EQ(extensions("A"), 0);
  EXPECT_TRUE(is_all_well_);
  EXPECT_THAT(err_.str(), HasSubstr("no time is left to extend 2 benchmarks"));
  EXPECT_THAT(out_.str(), HasSubstr("time budget is used up"));
  for (ProgramRequest& arm : request_.arms) arm.folder += "-again";
  fs::remove(folder_.path() / "clock");
  request_.budget_s = 74;
  EXPECT_EQ(measure(one_look), RunEnd::kAll);
  EXPECT_EQ(extensions("A-again"), 1);
}

TEST_F(MeasuringRunTest, ExpectsAnExtensionToTakeWhatTheLastOneTook) {
  add_arm("A", true, taking_ten_seconds());
  // 20 s, a third of 10 s expected and 10 s taken; then 10 s are expected and do not fit.
  request_.budget_s = 39;
  EXPECT_EQ(measure({{kInconclusive, kUnchanged, kUnchanged}}), RunEnd::kBudget);
  EXPECT_EQ(extensions("A"), 1);
}

TEST_F(MeasuringRunTest, ConfirmsARegressionThoughTheBudgetIsUsedUp) {
  add_arm("A", true, taking_ten_seconds());
  request_.invocations = 3;
  request_.budget_s = 15;
  EXPECT_EQ(measure({{kRegression, kInconclusive, kUnchanged}}), RunEnd::kBudget);
  EXPECT_THAT(calls(), ElementsAre("bench-A 1 .", StartsWith("bench-A 2 ^(a)(/"),
                                   StartsWith("bench-A 3 ^(a)(/")));
  EXPECT_EQ(extensions("A"), 2);
  const std::string told = "no time is left to extend 1 benchmark\n";
  EXPECT_THAT(err_.str(), HasSubstr(told));
  EXPECT_EQ(err_.str().find(told), err_.str().rfind(told));
}

TEST_F(MeasuringRunTest, SaysWhyNothingIsExtended) {
  add_arm("A");
  Console console{out_, err_};
  MeasuringRun run(request_, console);
  EXPECT_EQ(run.measure([]() -> std::vector<baselines::Verdict> {
    throw baselines::InputError("base", "", "is odd");
  }),
            RunEnd::kAll);
  EXPECT_THAT(err_.str(), HasSubstr("nothing is extended: base: is odd"));
  EXPECT_TRUE(record("A").finished);
  EXPECT_EQ(record("A").invocations.size(), 2u);
}

TEST_F(MeasuringRunTest, EndsInOrderWhenInterruptedInAnExtension) {
  FakeBench bench = three();
  bench.more = "[ $invocation = 4 ] && { (sleep 0.3; kill -INT $PPID) & exec sleep 60; }\nexit 0";
  add_arm("A", true, bench);
  EXPECT_EQ(measure({{kInconclusive, kUnchanged, kUnchanged}}), RunEnd::kInterrupted);
  EXPECT_FALSE(is_all_well_);
  EXPECT_EQ(record("A").invocations.size(), 4u);
  EXPECT_FALSE(record("A").finished);
  EXPECT_THAT(err_.str(), HasSubstr("interrupted; 3 finished invocations kept in "));
}

TEST_F(MeasuringRunTest, DealsTheMinimumToTwoArmsForAnAaComparison) {
  request_.is_aa = true;
  request_.invocations = 5;
  request_.max_processes = 7;
  add_arm("A");
  measure({{kInconclusive, kUnchanged, kUnchanged}});
  const auto invocations = record("A").invocations;
  ASSERT_THAT(invocations, SizeIs(7));
  std::string arms;
  for (const auto& invocation : invocations)
    arms += invocation.aa_arm.empty() ? "-" : invocation.aa_arm;
  EXPECT_TRUE(arms == "abbaa--" || arms == "abbab--" || arms == "baaba--" || arms == "baabb--")
      << arms;
  EXPECT_THAT(blocks("A"), ElementsAre(1, 1, 2, 2, 3, 4, 5));
}

TEST_F(MeasuringRunTest, RefusesAMaximumThatCouldNotConfirm) {
  add_arm("A");
  Console console{out_, err_};
  for (const int maximum : {1, 3}) {
    request_.max_processes = maximum;
    EXPECT_THROW(MeasuringRun(request_, console), baselines::InputError) << maximum;
  }
  EXPECT_FALSE(fs::exists(folder_.path() / "A"));
}

class MeasuringChosenWorkTest : public MeasuringRunTest {
 protected:
  MeasuringChosenWorkTest() {
    request_.invocations = 1;
    request_.max_processes = 3;
  }

  // Thirty benchmarks, of which one launches that.
  static FakeBench thirty(const std::string& code_of_a07 = "0f") {
    FakeBench bench{.file = {.times = {}}};
    for (int i = 1; i <= 30; ++i) {
      bench.file.times[fmt::format("a{:02}", i)] = 1000;
      bench.file.codes[fmt::format("a{:02}", i)] = "0f";
    }
    bench.file.codes["a07"] = code_of_a07;
    return bench;
  }
  void choose(const std::string& undecided = "") {
    Console console{out_, err_};
    MeasuringRun run(request_, console);
    run.measure(
        [&] {
          std::vector<baselines::Verdict> verdicts(30);
          for (std::size_t i = 0; i < 30; ++i) {
            verdicts[i].benchmark = fmt::format("a{:02}", i + 1);
            verdicts[i].kind = verdicts[i].benchmark == undecided ? kInconclusive : kUnchanged;
          }
          return verdicts;
        },
        [&] {
          return std::vector<ComparedRuns>{{baselines::load_run({folder_.path() / "A"}),
                                            baselines::load_run({folder_.path() / "B"})}};
        });
    is_all_well_ = run.report();
  }
  static std::size_t names_in(const std::string& call) {
    const std::string names = call.substr(0, call.find(")("));
    return static_cast<std::size_t>(std::ranges::count(names, '|')) + 1;
  }
  bool was_measured() const { return fs::exists(folder_.path() / "calls"); }
};

TEST_F(MeasuringChosenWorkTest, MeasuresWhatDiffersAndControlsInAllArms) {
  add_arm("A", true, thirty());
  add_arm("B", true, thirty("1e"));
  choose("a07");
  EXPECT_THAT(out_.str(), HasSubstr("29 of 30 benchmarks do equal work: measuring the other 1, and "
                                    "24 of the equal ones as controls\n"));
  ASSERT_THAT(calls(), SizeIs(6));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(names_in(calls()[i]), 25u);
    EXPECT_THAT(calls()[i], HasSubstr("|a07|"));
  }
  EXPECT_EQ(calls()[0].substr(7), calls()[1].substr(7));  // but for the names of the programs
  for (int i = 2; i < 6; ++i) EXPECT_THAT(calls()[i], HasSubstr(" ^(a07)(/"));
  EXPECT_THAT(err_.str(), HasSubstr("extension 1: 1 of 25 benchmarks"));
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(calls()[i].ends_with(" with energy"), i == 2 || i == 3) << "in the first extension";
  }
  EXPECT_TRUE(is_all_well_);
}

TEST_F(MeasuringChosenWorkTest, AWholeExtensionMeasuresWhatWasChosen) {
  request_.extends_whole_suite = true;
  add_arm("A", true, thirty());
  add_arm("B", true, thirty("1e"));
  choose("a07");
  ASSERT_THAT(calls(), SizeIs(6));
  EXPECT_EQ(names_in(calls()[5]), 25u);
}

TEST_F(MeasuringChosenWorkTest, WhereNoWorkDiffersARecordIsOfControls) {
  add_arm("A", true, thirty());
  add_arm("B", true, thirty());
  choose();
  ASSERT_THAT(calls(), SizeIs(2));
  EXPECT_EQ(names_in(calls()[0]), 24u);
}

TEST_F(MeasuringChosenWorkTest, WhereNoWorkDiffersAndNoRecordIsWantedNothingIsMeasured) {
  request_.has_record = false;
  add_arm("A", true, thirty());
  add_arm("B", true, thirty());
  choose("a07");
  EXPECT_FALSE(was_measured());
  EXPECT_TRUE(is_all_well_);
  EXPECT_THAT(out_.str(), HasSubstr("30 of 30 benchmarks do equal work: nothing is measured\n"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("invocation")));
  EXPECT_TRUE(record("A").finished);
  EXPECT_EQ(record("A").planned_processes, 0);
}

TEST_F(MeasuringChosenWorkTest, AProgramOfTwoFoldersIsAskedOnce) {
  FakeBench bench = thirty();
  bench.before = "echo asked >> '" + (folder_.path() / "asked").string() + "'\n";
  add_arm("A", true, bench);
  request_.arms.push_back({folder_.path() / "B", request_.arms.front().program});
  request_.has_record = false;
  choose();
  EXPECT_EQ(baselines::read_file(folder_.path() / "asked"), "asked\n");
  EXPECT_TRUE(fs::exists(folder_.path() / "B" / baselines::kIdentitiesFile));
}

TEST_F(MeasuringChosenWorkTest, ARunThatIsAddedToAsksAgainOnlyWhatIsAnotherQuestion) {
  const fs::path asked = folder_.path() / "asked";
  FakeBench bench = thirty();
  bench.before = "case $* in *--identify=*) echo >> '" + asked.string() + "' ;; esac\n";
  add_arm("A", true, bench);
  add_arm("B", true, thirty("1e"));
  request_.append = true;
  request_.max_processes = 1;
  const auto times_asked = [&] {
    choose();
    EXPECT_TRUE(is_all_well_) << err_.str();
    return baselines::read_file(asked).size();
  };
  EXPECT_EQ(times_asked(), 1u);
  EXPECT_EQ(times_asked(), 1u);
  EXPECT_EQ(record("A").invocations.size(), 2u);
  EXPECT_EQ(names_in(calls()[3]), 25u);
  bench.more = "# another program by now\n";
  write_bench(folder_, "bench-A", bench);
  EXPECT_EQ(times_asked(), 2u);
  request_.flags = {"--idle-us=1"};
  EXPECT_EQ(times_asked(), 3u);
  folder_.write("suites/smoke.json", "{}");
  EXPECT_EQ(times_asked(), 4u);
  fs::remove(folder_.path() / "B" / baselines::kIdentitiesFile);
  EXPECT_EQ(times_asked(), 5u);
}

TEST_F(MeasuringChosenWorkTest, AllIsMeasuredWhereAProgramIsOlderThanTheQuestion) {
  FakeBench old = thirty();
  old.file.codes.clear();
  add_arm("A", true, old);
  add_arm("B", true, thirty());
  choose();
  ASSERT_THAT(calls(), SizeIs(2));
  EXPECT_THAT(calls()[0], HasSubstr(" 1 ."));
  EXPECT_THAT(err_.str(), Not(HasSubstr("all is measured")));
  EXPECT_FALSE(fs::exists(folder_.path() / "B" / baselines::kIdentitiesFile));
}

TEST_F(MeasuringChosenWorkTest, AllIsMeasuredWhereADeviceTellsNothing) {
  FakeBench silent = thirty();
  for (auto& [name, code] : silent.file.codes) code = "";
  add_arm("A", true, silent);
  add_arm("B", true, silent);
  choose();
  EXPECT_THAT(calls()[0], HasSubstr(" 1 ."));
  EXPECT_THAT(err_.str(), Not(HasSubstr("all is measured")));
  EXPECT_FALSE(fs::exists(folder_.path() / "A" / baselines::kIdentitiesFile));
}

TEST_F(MeasuringChosenWorkTest, SaysOfAProgramThatShouldHaveToldWhyItDidNot) {
  FakeBench broken = thirty();
  broken.before = "case $* in *--identify=*) echo 'CUPTI is in use' >&2; exit 2 ;; esac\n";
  add_arm("A", true, thirty());
  add_arm("B", true, broken);
  choose();
  EXPECT_THAT(calls()[0], HasSubstr(" 1 ."));
  EXPECT_THAT(err_.str(), HasSubstr("fusegate: all is measured, since "));
  EXPECT_THAT(err_.str(), HasSubstr("exit code 2: CUPTI is in use\n"));
  EXPECT_FALSE(fs::exists(folder_.path() / "A" / baselines::kIdentitiesFile));
}

TEST_F(MeasuringChosenWorkTest, AsksNothingWhereAllIsToBeMeasured) {
  request_.measures_all = true;
  add_arm("A", true, thirty());
  add_arm("B", true, thirty());
  choose();
  EXPECT_THAT(calls()[0], HasSubstr(" 1 ."));
  EXPECT_FALSE(fs::exists(folder_.path() / "A" / baselines::kIdentitiesFile));
}

TEST_F(MeasuringChosenWorkTest, AllIsMeasuredWhereTheNamesAreTooLong) {
  FakeBench one = thirty();
  for (int i = 0; i < 3; ++i) {
    const std::string name = std::string(60000, 'x') + std::to_string(i);
    one.file.codes[name] = "0f";
  }
  FakeBench other = one;
  for (auto& [name, code] : other.file.codes) code = name.size() > 3 ? "1e" : code;
  add_arm("A", true, one);
  add_arm("B", true, other);
  choose();
  EXPECT_THAT(calls()[0], HasSubstr(" 1 ."));
  EXPECT_THAT(err_.str(), HasSubstr("all is measured: the names of 27 benchmarks are too long"));
}

TEST_F(MeasuringChosenWorkTest, EndsInOrderWhenInterruptedWhileAsking) {
  FakeBench bench = thirty();
  bench.before = "(sleep 0.3; kill -INT $PPID) & exec sleep 60\n";
  add_arm("A", true, bench);
  add_arm("B", true, bench);
  choose();
  EXPECT_FALSE(was_measured());
  EXPECT_FALSE(is_all_well_);
  EXPECT_THAT(err_.str(), HasSubstr("interrupted; 0 finished invocations kept in "));
  EXPECT_THAT(err_.str(), Not(HasSubstr("all is measured")));
}

}  // namespace
}  // namespace fusegate::ci
