#include "ci/run/measure_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <set>
#include <sstream>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/launches/identities.h"
#include "baselines/record/load_run.h"
#include "ci/gate/judging.h"
#include "tests/fakes/fake_bench.h"

namespace fusegate::ci {
namespace {

using tests::FakeBench;
using tests::write_bench;

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

using enum baselines::VerdictKind;

class MeasureRunTest : public ::testing::Test {
 protected:
  MeasureRunTest() {
    request_.options.suite = "smoke";
    request_.processes = 2;
    request_.max_processes = 6;
    request_.options.seed = 1;
  }

  void add_program(const std::string& name, bool is_extended = true,
                   const FakeBench& bench = three()) {
    request_.programs.push_back(
        {folder_.path() / name, write_bench(folder_, "bench-" + name, bench), is_extended});
  }
  void add_programs(const FakeBench& a = three(), const FakeBench& b = three()) {
    add_program("A", true, a);
    add_program("B", true, b);
  }
  static FakeBench three() { return {.file = {.times = {{"a", 1000}, {"b", 2000}, {"c", 3000}}}}; }

  // kinds: of benchmarks a, b and c at interim analysis 1, 2, ...; the last repeats.
  RunEnd measure(const std::vector<std::array<baselines::VerdictKind, 3>>& kinds = {
                     {kUnchanged, kUnchanged, kUnchanged}}) {
    analyses_ = 0;
    return measure_by([&] {
      std::vector<baselines::Verdict> verdicts(3);
      const auto& now = kinds[std::min(analyses_++, kinds.size() - 1)];
      for (std::size_t i = 0; i < 3; ++i) {
        verdicts[i].benchmark = std::string(1, static_cast<char>('a' + i));
        verdicts[i].kind = now[i];
      }
      return verdicts;
    });
  }
  RunEnd measure_by(const InterimAnalysis& interim) {
    Console console{out_, err_};
    const RunResult run = measure_run(request_, {interim}, console, [this] { return now(); });
    is_all_well_ = run.all_well;
    return run.end;
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
    for (const auto& process : record(name).processes) result.push_back(process.block);
    return result;
  }
  int extensions(const std::string& name) const {
    return static_cast<int>(
        std::ranges::count(record(name).processes, true, &ProcessRecord::extension));
  }
  // What the programs were called with: "bench-head 3 ^(a|b)...".
  std::vector<std::string> calls() const {
    std::vector<std::string> result;
    std::istringstream lines(baselines::read_file(folder_.path() / "calls"));
    for (std::string line; std::getline(lines, line);) result.push_back(line);
    return result;
  }
  std::string order() const {
    std::string halves;
    for (const std::string& call : calls()) halves += call.substr(6, 1);
    return halves;
  }

  baselines::ScratchFolder folder_;
  MeasuringRequest request_;
  std::ostringstream out_;
  std::ostringstream err_;
  std::size_t analyses_ = 0;
  bool is_all_well_ = false;
};

TEST_F(MeasureRunTest, RecordsTheSessionAndTheBlocksOfItsPrograms) {
  request_.processes = request_.max_processes = 3;
  add_programs();
  EXPECT_EQ(measure({{kRegression, kRegression, kRegression}}), RunEnd::kAll);
  EXPECT_EQ(analyses_, 0u);
  EXPECT_THAT(blocks("A"), ElementsAre(1, 2, 3));
  EXPECT_THAT(blocks("B"), ElementsAre(1, 2, 3));
  EXPECT_EQ(record("A").session, record("B").session);
  EXPECT_THAT(record("A").session, SizeIs(16));
  EXPECT_THAT(order(), AnyOf(StartsWith("ABBA"), StartsWith("BAAB")));
}

// A suite large enough to find an outlier, in which the given processes take eleven times as long
// or so.
FakeBench outlier_in(const std::string& processes) {
  FakeBench bench;
  bench.file.times.clear();
  for (int i = 0; i < 9; ++i) bench.file.times.emplace(fmt::format("row{}", i), 1000 + 100 * i);
  bench.more = "case $process in " + processes + R"() sed -i 's/"real_time":/&1/g' "$out" ;; esac)";
  return bench;
}

std::vector<std::string> outlier_files(const RunRecord& record) {
  std::vector<std::string> files;
  for (const ProcessRecord& process : record.processes) {
    if (process.relative_deviation) files.push_back(process.file);
  }
  return files;
}

TEST_F(MeasureRunTest, MeasuresOnceMoreWhereAProcessIsAnOutlier) {
  request_.processes = request_.max_processes = 4;
  add_programs(three(), outlier_in("2"));
  EXPECT_EQ(measure(), RunEnd::kAll);
  EXPECT_THAT(blocks("A"), ElementsAre(1, 2, 3, 4, 5)) << "a block is of all programs";
  EXPECT_THAT(blocks("B"), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(record("B").planned_processes, 5);
  EXPECT_EQ(extensions("B"), 0);
  EXPECT_THAT(outlier_files(record("B")), ElementsAre("2.json")) << "and it is kept";
  EXPECT_GT(record("B").processes[1].relative_deviation.value(), 5);
  EXPECT_THAT(outlier_files(record("A")), IsEmpty());
  EXPECT_THAT(err_.str(), HasSubstr("B: process 2.json is an outlier: "));
  EXPECT_THAT(err_.str(), HasSubstr("slower than the others (median of 9 benchmarks)\n"
                                    "running one more process of each program\n"));
}

TEST_F(MeasureRunTest, MeasuresForOutliersTwiceAtMost) {
  request_.processes = request_.max_processes = 7;
  add_program("B", true, outlier_in("7|8|9|10"));
  measure();
  EXPECT_THAT(blocks("B"), SizeIs(9));
  EXPECT_THAT(outlier_files(record("B")), ElementsAre("7.json", "8.json"));
}

TEST_F(MeasureRunTest, MeasuresForAnOutlierWithinTheBudgetAlone) {
  request_.processes = request_.max_processes = 4;
  request_.options.budget_s = 45;
  FakeBench bench = outlier_in("2");
  bench.more += "\n" + taking_ten_seconds().more;
  add_program("B", true, bench);
  measure();
  EXPECT_THAT(blocks("B"), SizeIs(4));
  EXPECT_THAT(outlier_files(record("B")), ElementsAre("2.json"));
  EXPECT_THAT(err_.str(),
              HasSubstr("the time budget has no room for another process in place of the outlier"));
}

TEST_F(MeasureRunTest, DrawsTheOrderFromTheSeed) {
  request_.processes = request_.max_processes = 1;
  request_.options.earlier = Earlier::kAddedTo;
  add_programs();
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    fs::remove(folder_.path() / "calls");
    request_.options.seed = seed;
    measure();
    orders.insert(order());
  }
  EXPECT_THAT(orders, ElementsAre("AB", "BA"));
}

TEST_F(MeasureRunTest, GivesSessionsOfTheirOwnToRunsWithTheSameSeed) {
  add_program("A");
  measure();
  request_.programs.front().folder = folder_.path() / "later";
  measure();
  EXPECT_NE(record("A").session, record("later").session);
}

TEST_F(MeasureRunTest, CountsBlocksOnWhereItAppendsToOneSession) {
  add_programs();
  measure();
  const std::string session = record("A").session;
  request_.options.earlier = Earlier::kAddedTo;
  measure();
  EXPECT_THAT(blocks("B"), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(record("B").session, session);
  // Beside a folder of another session blocks would mean two things.
  add_program("C");
  measure();
  EXPECT_EQ(record("A").session, "");
  EXPECT_EQ(record("C").session, "");
}

TEST_F(MeasureRunTest, ExtendsTheUndecidedAndTheSuspiciousAndStopsWhereNothingIsLeft) {
  add_programs();
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
  for (const std::size_t pair : {0, 4}) {
    EXPECT_THAT(order().substr(pair, 4), AnyOf("ABBA", "BAAB")) << "extensions too";
  }
  EXPECT_THAT(err_.str(), HasSubstr("extension 3: 1 of 3 benchmarks"));
  EXPECT_THAT(out_.str(), HasSubstr("5 processes of suite smoke in "));
  EXPECT_THAT(out_.str(), HasSubstr("A, 3 of them for undecided benchmarks\n"));
}

TEST_F(MeasureRunTest, StopsAtTheMaximumAndLeavesProgramsThatAreNotExtendedAtTheMinimum) {
  add_program("A");
  add_program("B", false);
  EXPECT_EQ(measure({{kInconclusive, kRegression, kUnchanged}}), RunEnd::kAll);
  EXPECT_EQ(record("A").processes.size(), 6u);
  EXPECT_EQ(extensions("A"), 4);
  EXPECT_EQ(extensions("B"), 0);
}

TEST_F(MeasureRunTest, StartsNoRoundOfTheMinimumThatWouldOverrunTheBudget) {
  add_programs(taking_ten_seconds(), taking_ten_seconds());
  request_.processes = 3;
  request_.options.budget_s = 50;  // two rounds take 40 s, a third would end after 60 s
  EXPECT_EQ(measure(), RunEnd::kBudget);
  EXPECT_EQ(record("A").processes.size(), 2u);
  EXPECT_EQ(record("B").processes.size(), 2u);
}

TEST_F(MeasureRunTest, ExpectsAnExtensionToTakeItsShareOfARound) {
  add_programs(taking_ten_seconds(), taking_ten_seconds());
  add_program("C", false, taking_ten_seconds());
  const std::vector<std::array<baselines::VerdictKind, 3>> one_analysis{
      {kInconclusive, kInconclusive, kUnchanged}, {kUnchanged, kUnchanged, kUnchanged}};
  request_.options.budget_s = 73;  // 60 s, and two thirds of 20 s
  EXPECT_EQ(measure(one_analysis), RunEnd::kBudget);
  EXPECT_EQ(extensions("A"), 0);
  EXPECT_TRUE(is_all_well_);
  EXPECT_THAT(err_.str(), HasSubstr("the time budget has no room to measure 2 benchmarks again"));
  EXPECT_THAT(out_.str(), HasSubstr("stopped by the time budget"));
  for (ProgramRequest& program : request_.programs) program.folder += "-again";
  fs::remove(folder_.path() / "clock");
  request_.options.budget_s = 74;
  EXPECT_EQ(measure(one_analysis), RunEnd::kAll);
  EXPECT_EQ(extensions("A-again"), 1);
}

TEST_F(MeasureRunTest, ExpectsAnExtensionToTakeWhatTheLastOneTook) {
  add_program("A", true, taking_ten_seconds());
  // 20 s, a third of 10 s expected and 10 s taken; then 10 s are expected and do not fit.
  request_.options.budget_s = 39;
  EXPECT_EQ(measure({{kInconclusive, kUnchanged, kUnchanged}}), RunEnd::kBudget);
  EXPECT_EQ(extensions("A"), 1);
}

TEST_F(MeasureRunTest, ConfirmsARegressionThoughTheBudgetIsUsedUp) {
  add_program("A", true, taking_ten_seconds());
  request_.processes = 3;
  request_.options.budget_s = 15;
  EXPECT_EQ(measure({{kRegression, kInconclusive, kUnchanged}}), RunEnd::kBudget);
  EXPECT_THAT(calls(), ElementsAre("bench-A 1 .", StartsWith("bench-A 2 ^(a)(/"),
                                   StartsWith("bench-A 3 ^(a)(/")));
  EXPECT_EQ(extensions("A"), 2);
  const std::string said = "the time budget has no room to measure 1 benchmark again\n";
  EXPECT_THAT(err_.str(), HasSubstr(said));
  EXPECT_EQ(err_.str().find(said), err_.str().rfind(said));
}

TEST_F(MeasureRunTest, SaysWhyNothingIsExtended) {
  add_program("A");
  EXPECT_EQ(measure_by([]() -> std::vector<baselines::Verdict> {
              throw baselines::InputError("base", "", "cannot be read");
            }),
            RunEnd::kAll);
  EXPECT_THAT(err_.str(), HasSubstr("measuring no further: base: cannot be read"));
  EXPECT_TRUE(record("A").finished);
  EXPECT_EQ(record("A").processes.size(), 2u);
}

TEST_F(MeasureRunTest, EndsInOrderWhenInterruptedInAnExtension) {
  FakeBench bench = three();
  bench.more = "[ $process = 4 ] && { (sleep 0.3; kill -INT $PPID) & exec sleep 60; }\nexit 0";
  add_program("A", true, bench);
  EXPECT_EQ(measure({{kInconclusive, kUnchanged, kUnchanged}}), RunEnd::kInterrupted);
  EXPECT_FALSE(is_all_well_);
  EXPECT_EQ(record("A").processes.size(), 4u);
  EXPECT_FALSE(record("A").finished);
  EXPECT_THAT(err_.str(), HasSubstr("interrupted; 3 processes finished, kept in "));
}

TEST_F(MeasureRunTest, DealsTheMinimumToTwoHalvesForAnAaComparison) {
  request_.is_aa = true;
  request_.processes = 5, request_.max_processes = 7;
  add_program("A");
  measure({{kInconclusive, kUnchanged, kUnchanged}});
  const auto processes = record("A").processes;
  ASSERT_THAT(processes, SizeIs(7));
  std::string halves;
  for (const auto& process : processes) halves += process.aa_half.empty() ? "-" : process.aa_half;
  EXPECT_THAT(halves, AnyOf("abbaa--", "abbab--", "baaba--", "baabb--"));
  EXPECT_THAT(blocks("A"), ElementsAre(1, 1, 2, 2, 3, 4, 5));
}

TEST_F(MeasureRunTest, RefusesAMaximumThatCouldNotConfirm) {
  add_program("A");
  Console console{out_, err_};
  for (const int maximum : {1, 3}) {
    request_.max_processes = maximum;
    EXPECT_THROW(measure_run(request_, {}, console), baselines::InputError) << maximum;
  }
  EXPECT_FALSE(fs::exists(folder_.path() / "A"));
}

class MeasureSelectionTest : public MeasureRunTest {
 protected:
  MeasureSelectionTest() { request_.processes = 1, request_.max_processes = 3; }

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
    const InterimAnalysis interim = [&] {
      std::vector<baselines::Verdict> verdicts(30);
      for (std::size_t i = 0; i < 30; ++i) {
        verdicts[i].benchmark = fmt::format("a{:02}", i + 1);
        verdicts[i].kind = verdicts[i].benchmark == undecided ? kInconclusive : kUnchanged;
      }
      return verdicts;
    };
    const Comparisons comparisons = [&] {
      return std::vector<ComparedRuns>{{baselines::load_run({folder_.path() / "A"}),
                                        baselines::load_run({folder_.path() / "B"})}};
    };
    is_all_well_ = measure_run(request_, {interim, comparisons}, console).all_well;
  }
  static std::size_t names_in(const std::string& call) {
    const std::string names = call.substr(0, call.find(")("));
    return static_cast<std::size_t>(std::ranges::count(names, '|')) + 1;
  }
  bool was_measured() const { return fs::exists(folder_.path() / "calls"); }
};

TEST_F(MeasureSelectionTest, MeasuresWhatDiffersAndControlsOfAllPrograms) {
  add_programs(thirty(), thirty("1e"));
  choose("a07");
  EXPECT_THAT(out_.str(),
              HasSubstr("29 of 30 benchmarks run identical code: measuring the other 1, "
                        "and 24 of the identical ones as controls\n"));
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

TEST_F(MeasureSelectionTest, AWholeExtensionMeasuresWhatWasChosen) {
  request_.extends_whole_suite = true;
  add_programs(thirty(), thirty("1e"));
  choose("a07");
  ASSERT_THAT(calls(), SizeIs(6));
  EXPECT_EQ(names_in(calls()[5]), 25u);
}

TEST_F(MeasureSelectionTest, WhereNoCodeDiffersARecordIsOfControls) {
  add_programs(thirty(), thirty());
  choose();
  ASSERT_THAT(calls(), SizeIs(2));
  EXPECT_EQ(names_in(calls()[0]), 24u);
}

TEST_F(MeasureSelectionTest, WhereNoCodeDiffersAndNoRecordIsWantedNothingIsMeasured) {
  request_.has_record = false;
  add_programs(thirty(), thirty());
  choose("a07");
  EXPECT_FALSE(was_measured());
  EXPECT_TRUE(is_all_well_);
  EXPECT_THAT(out_.str(),
              HasSubstr("30 of 30 benchmarks run identical code: nothing to measure\n"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("process")));
  EXPECT_TRUE(record("A").finished);
  EXPECT_EQ(record("A").planned_processes, 0);
}

TEST_F(MeasureSelectionTest, AProgramOfTwoFoldersIsAskedOnce) {
  FakeBench bench = thirty();
  bench.before = "echo asked >> '" + (folder_.path() / "asked").string() + "'\n";
  add_program("A", true, bench);
  request_.programs.push_back({folder_.path() / "B", request_.programs.front().program});
  request_.has_record = false;
  choose();
  EXPECT_EQ(baselines::read_file(folder_.path() / "asked"), "asked\n");
  EXPECT_TRUE(fs::exists(folder_.path() / "B" / baselines::kIdentitiesFile));
}

TEST_F(MeasureSelectionTest, ARunThatIsAddedToAsksAgainOnlyWhatIsAnotherQuestion) {
  const fs::path asked = folder_.path() / "asked";
  FakeBench bench = thirty();
  bench.before = "case $* in *--identify=*) echo >> '" + asked.string() + "' ;; esac\n";
  add_programs(bench, thirty("1e"));
  request_.options.earlier = Earlier::kAddedTo;
  request_.max_processes = 1;
  const auto times_asked = [&] {
    choose();
    EXPECT_TRUE(is_all_well_) << err_.str();
    return baselines::read_file(asked).size();
  };
  EXPECT_EQ(times_asked(), 1u);
  EXPECT_EQ(times_asked(), 1u);
  EXPECT_EQ(record("A").processes.size(), 2u);
  EXPECT_EQ(names_in(calls()[3]), 25u);
  bench.more = "# another program by now\n";
  write_bench(folder_, "bench-A", bench);
  EXPECT_EQ(times_asked(), 2u);
  request_.options.flags = {"--idle-us=1"};
  EXPECT_EQ(times_asked(), 3u);
  folder_.write("suites/smoke.json", "{}");
  EXPECT_EQ(times_asked(), 4u);
  fs::remove(folder_.path() / "B" / baselines::kIdentitiesFile);
  EXPECT_EQ(times_asked(), 5u);
}

// Also where only one of the programs can be identified; then none keeps what it was found to
// launch.
TEST_F(MeasureSelectionTest, AllIsMeasuredWhereAProgramCannotIdentifyItsCode) {
  FakeBench old = thirty(), silent = thirty(), broken = thirty();
  old.file.codes.clear();
  for (auto& [name, code] : silent.file.codes) code = "";
  broken.before = "case $* in *--identify=*) echo 'CUPTI is in use' >&2; exit 2 ;; esac\n";
  const std::string said = "measuring all benchmarks";
  request_.options.earlier = Earlier::kAddedTo;
  for (const FakeBench& bench : {old, silent, broken}) {
    fs::remove(folder_.path() / "calls");
    EXPECT_THAT(err_.str(), Not(HasSubstr(said))) << "nothing is wrong with the first two";
    request_.programs.clear();
    add_programs(thirty(), bench);
    choose();
    ASSERT_THAT(calls(), SizeIs(2));
    EXPECT_THAT(calls()[0], HasSubstr(" ."));
    EXPECT_FALSE(fs::exists(folder_.path() / "A" / baselines::kIdentitiesFile));
  }
  EXPECT_THAT(err_.str(), HasSubstr("fusegate: " + said + ", since "));
  EXPECT_THAT(err_.str(), HasSubstr("exit code 2: CUPTI is in use\n"));
}

TEST_F(MeasureSelectionTest, AsksNothingWhereAllIsToBeMeasured) {
  request_.options.measures_all = true;
  add_programs(thirty(), thirty());
  choose();
  EXPECT_THAT(calls()[0], HasSubstr(" 1 ."));
  EXPECT_FALSE(fs::exists(folder_.path() / "A" / baselines::kIdentitiesFile));
}

TEST_F(MeasureSelectionTest, AllIsMeasuredWhereTheNamesAreTooLong) {
  FakeBench one = thirty(), other = thirty();
  for (const char last : {'0', '1', '2'}) {
    one.file.codes[std::string(60000, 'x') + last] = "0f";
    other.file.codes[std::string(60000, 'x') + last] = "1e";
  }
  add_programs(one, other);
  choose();
  EXPECT_THAT(calls()[0], HasSubstr(" 1 ."));
  EXPECT_THAT(err_.str(),
              HasSubstr("measuring all benchmarks: the names of 27 benchmarks are too long"));
}

TEST_F(MeasureSelectionTest, EndsInOrderWhenInterruptedWhileAsking) {
  FakeBench bench = thirty();
  bench.before = "(sleep 0.3; kill -INT $PPID) & exec sleep 60\n";
  add_programs(bench, bench);
  choose();
  EXPECT_FALSE(was_measured());
  EXPECT_FALSE(is_all_well_);
  EXPECT_THAT(err_.str(), HasSubstr("interrupted; 0 processes finished, kept in "));
  EXPECT_THAT(err_.str(), Not(HasSubstr("measuring all benchmarks")));
}

// Programs of ten benchmarks, of which the first six have other code. A process takes process_s_
// seconds, and 0.1 s a sample.
class MeasureBudgetTest : public MeasureRunTest {
 protected:
  MeasureBudgetTest() {
    request_.options.plans_budget = true;
    request_.may_thin = true;
    request_.processes = 5, request_.max_processes = 15;
  }

  FakeBench ten(const std::string& code, double slower = 1) const {
    FakeBench bench{.file = {.times = {}}};
    for (int i = 0; i < 10; ++i) {
      const std::string name = fmt::format("a{}", i);
      bench.file.times[name] = 1000 * (i == 2 ? slower : 1);
      bench.file.codes[name] = i < 6 ? code : "0f";
    }
    // By our own estimate 0.1 s a sample.
    bench.file.protocol = {
        {"samples", 48}, {"layouts", 48}, {"idle_ns", 45000000}, {"batch_ns", 30000000}};
    bench.more = fmt::format(R"(samples=48
for argument in "$@"; do case $argument in --samples=*) samples=${{argument#--samples=}} ;; esac; done
count=$(echo $files | wc -w)
head -c $(({} + count * samples)) /dev/zero | tr '\0' . >> '{}')",
                             10 * process_s_, (folder_.path() / "clock").string());
    return bench;
  }
  // In tenths of a second.
  double now() const { return MeasureRunTest::now() / 10; }
  int process_s_ = 1;
  RunResult measure_within(double budget_s, double slower = 1) {
    request_.options.budget_s = budget_s;
    FakeBench head = ten("1e", slower);
    head.phase = 1;
    add_programs(ten("0f"), head);
    Console console{out_, err_};
    return measure_run(
        request_,
        {.comparisons =
             [&] {
               return std::vector<ComparedRuns>{{baselines::load_run({folder_.path() / "A"}),
                                                 baselines::load_run({folder_.path() / "B"})}};
             }},
        console, [this] { return now(); });
  }
  GateFacts judged_run() const {
    JudgingRequest judging;
    judging.baseline = {folder_.path() / "A"};
    judging.candidate = {folder_.path() / "B"};
    return judged(judging);
  }
  std::vector<std::string> left_out() const {
    std::vector<std::string> names;
    for (const auto& [name, why] : record("B").left_out) names.push_back(name);
    return names;
  }
};

TEST_F(MeasureBudgetTest, MeasuresAllThatItHasTimeFor) {
  const RunResult run = measure_within(1000);
  EXPECT_EQ(run.end, RunEnd::kAll);
  EXPECT_THAT(record("A").processes, SizeIs(::testing::Ge(10)));
  EXPECT_THAT(left_out(), IsEmpty());
  EXPECT_LE(now(), 1000);
  EXPECT_GT(now(), 900) << "and uses it";
  EXPECT_THAT(run.notes,
              ElementsAre(HasSubstr("Budget of 1000 s: measuring 6 benchmarks that can have "
                                    "changed, and 4 controls, by 1")));
}

TEST_F(MeasureBudgetTest, AShortOneTakesFewerSamplesAndControls) {
  measure_within(120);
  EXPECT_LE(now(), 120);
  EXPECT_THAT(record("A").processes, SizeIs(::testing::Ge(4)));
  EXPECT_THAT(left_out(), IsEmpty());
  EXPECT_EQ(judged_run().result.exit_code, baselines::ExitCode::kNoRegression);
}

TEST_F(MeasureBudgetTest, FailsASlowdownThatItMeasuresAndNamesWhatItLeavesOut) {
  process_s_ = 3;  // more than is reckoned with
  const RunResult run = measure_within(85, 1.05);
  EXPECT_TRUE(run.all_well);
  EXPECT_LE(now(), 85);
  EXPECT_THAT(record("A").processes, SizeIs(4));
  EXPECT_EQ(record("A").left_out, record("B").left_out);
  ASSERT_THAT(left_out(), ElementsAre("a3", "a4", "a5"));
  EXPECT_THAT(calls().front(), HasSubstr("|a3|")) << "the first round took longer than expected";
  EXPECT_THAT(calls().back(), Not(HasSubstr("|a3|")));
  const GateFacts facts = judged_run();
  EXPECT_EQ(facts.result.exit_code, baselines::ExitCode::kRegression);
  for (const baselines::Verdict& verdict : facts.result.verdicts) {
    if (verdict.benchmark == "a2") {
      EXPECT_EQ(verdict.kind, kRegression);
    }
    if (verdict.benchmark != "a4") continue;
    EXPECT_EQ(verdict.kind, kInconclusive);
    EXPECT_EQ(verdict.reason.obstacle, baselines::Obstacle::kNotMeasured);
    EXPECT_EQ(verdict.reason.failure, "outside of the budget of 85 s");
  }
}

TEST_F(MeasureBudgetTest, DoesNotPassWhatItLeavesOut) {
  measure_within(70);
  EXPECT_EQ(judged_run().result.exit_code, baselines::ExitCode::kCouldNotJudge);
  EXPECT_THAT(judged_run().result.causes, ElementsAre(baselines::GateCause::kNotRuledOut));
}

TEST_F(MeasureBudgetTest, SaysWhereItIsTooShortForAVerdict) {
  const RunResult run = measure_within(25);
  EXPECT_LE(now(), 25);
  EXPECT_LT(record("A").processes.size(), 4u);
  EXPECT_THAT(run.notes, SizeIs(2));
  EXPECT_THAT(run.notes.back(), HasSubstr("too short for a verdict"));
}

TEST_F(MeasureBudgetTest, WhereNoCodeDiffersItMeasuresControlsForARecord) {
  request_.options.budget_s = 300;
  add_programs(ten("0f"), ten("0f"));
  Console console{out_, err_};
  const Comparisons comparisons = [&] {
    return std::vector<ComparedRuns>{
        {baselines::load_run({folder_.path() / "A"}), baselines::load_run({folder_.path() / "B"})}};
  };
  const RunResult run =
      measure_run(request_, {.comparisons = comparisons}, console, [this] { return now(); });
  EXPECT_TRUE(run.measured_anything);
  EXPECT_LE(now(), 300);
  EXPECT_THAT(run.notes, IsEmpty());
}

TEST_F(MeasureBudgetTest, IsALimitAloneWhereProgramsDoNotNameWhatTheyMeasure) {
  request_.options.budget_s = 50;
  add_programs(taking_ten_seconds(), taking_ten_seconds());
  Console console{out_, err_};
  const RunResult run =
      measure_run(request_, {.comparisons = [] { return std::vector<ComparedRuns>(); }}, console,
                  [this] { return MeasureRunTest::now(); });
  EXPECT_EQ(run.end, RunEnd::kBudget);
  EXPECT_THAT(record("A").processes, SizeIs(2));
  EXPECT_THAT(run.notes, ElementsAre(HasSubstr("it is a limit alone")));
}

class MeasureOnlyTest : public MeasureSelectionTest {
 protected:
  // What it is asked for its identities.
  FakeBench asked(const std::string& code) const {
    FakeBench bench = thirty(code);
    bench.file.codes["a20"] = code;
    bench.before = "case $* in *--identify=*) echo \"$*\" >> '" +
                   (folder_.path() / "asked").string() + "' ;; esac\n";
    return bench;
  }
  void choose_of(std::optional<baselines::Run> stored) {
    Console console{out_, err_};
    const Comparisons comparisons = [&] {
      return std::vector<ComparedRuns>{{baselines::load_run({folder_.path() / "A"}),
                                        baselines::load_run({folder_.path() / "B"})}};
    };
    measure_run(request_, {.comparisons = comparisons, .stored = std::move(stored)}, console);
  }
};

TEST_F(MeasureOnlyTest, AsksAndMeasuresAPartAndNamesTheOthers) {
  request_.max_processes = 1;
  request_.options.only.patterns = {"a07"};
  request_.controls = ControlUse::kSideBySide;
  add_programs(asked("0f"), asked("1e"));
  const auto stored = tests::write_run(folder_, "stored", thirty().file);
  choose_of(baselines::load_run({stored}));
  const std::string questions = baselines::read_file(folder_.path() / "asked");
  EXPECT_THAT(questions, HasSubstr("a07"));
  EXPECT_EQ(names_in(questions.substr(0, questions.find('\n'))), 13u) << "twelve for controls";
  EXPECT_EQ(names_in(calls()[0]), 7u);
  EXPECT_THAT(calls()[0], Not(HasSubstr("a20")));
  EXPECT_EQ(record("A").left_out.at("a20"), "not asked for: --only a07");
}

TEST_F(MeasureOnlyTest, AsksForAllWhereNothingIsStored) {
  request_.max_processes = 1;
  request_.options.only.patterns = {"a07"};
  add_programs(asked("0f"), asked("1e"));
  choose_of(std::nullopt);
  EXPECT_THAT(baselines::read_file(folder_.path() / "asked"), Not(HasSubstr("a07")));
  EXPECT_THAT(calls()[0], AllOf(HasSubstr("|a07|"), Not(HasSubstr("a20"))));
  EXPECT_EQ(record("A").left_out.size(), 1u) << "it differs, and is undecided";
}

TEST_F(MeasureOnlyTest, DropsOthersWhoseCodeIsNotKnown) {
  request_.max_processes = 1;
  request_.options.only.patterns = {"a07"};
  add_programs(asked("0f"), asked(""));
  choose_of(std::nullopt);
  const auto identities =
      baselines::read_identities(folder_.path() / "B" / baselines::kIdentitiesFile);
  EXPECT_TRUE(identities.benchmarks.contains("a07"));
  EXPECT_FALSE(identities.benchmarks.contains("a20"));
  EXPECT_TRUE(record("A").left_out.contains("a20"));
}

}  // namespace
}  // namespace fusegate::ci
