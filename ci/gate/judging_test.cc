#include "ci/gate/judging.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/record/load_run.h"
#include "ci/gate/gate_notes.h"
#include "tests/fakes/fake_program.h"

namespace fusegate::ci {
namespace {

using tests::FakeRunFile;
using tests::write_run;

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class JudgingTest : public ::testing::Test {
 protected:
  JudgingTest() { request_.stores = {folder_.path() / "kept", folder_.path() / "local"}; }

  fusegate::baselines::Run run(const FakeRunFile& file = {}) {
    return baselines::load_run({write_run(folder_, "run", file)});
  }
  fs::path store(const std::string& store, const FakeRunFile& file, bool published = false) {
    baselines::Baseline baseline{
        {"somebody", "2026-11-21T00:00:00+00:00", "first"}, run(file), published};
    const fs::path path =
        baselines::baseline_path(folder_.path() / store, baseline.run.environment, file.suite);
    baselines::write_atomically(path, baselines::baseline_text(baseline));
    return path;
  }
  GateFacts judge(const fusegate::baselines::Run& candidate) const {
    GateFacts facts{.candidate = candidate};
    judge_candidate(request_, facts);
    return facts;
  }
  baselines::GateOptions options_of(const nlohmann::json& protocol, bool side_by_side = false) {
    return gate_options(request_, run({.protocol = protocol}), side_by_side);
  }

  baselines::ScratchFolder folder_;
  JudgingRequest request_;
};

TEST_F(JudgingTest, FindsTheStoredBaselineOfDeviceAndSuite) {
  EXPECT_FALSE(load_baseline(request_, run()));
  store("local", {});
  const auto baseline = load_baseline(request_, run());
  ASSERT_TRUE(baseline);
  EXPECT_EQ(baseline->acceptance->reason, "first");
  EXPECT_EQ(baseline->run.benchmarks.size(), 2u);
}

TEST_F(JudgingTest, PrefersTheFirstStoreWithTheSameEnvironment) {
  const fusegate::baselines::Run candidate = run();
  const fs::path kept_other = store("kept", {.driver = "999.0"});
  EXPECT_EQ(find_comparable_baseline(request_.stores, candidate.environment, "smoke")->path,
            kept_other);
  const fs::path local = store("local", {});
  EXPECT_EQ(find_comparable_baseline(request_.stores, candidate.environment, "smoke")->path, local);
  const fs::path kept = store("kept", {});
  EXPECT_EQ(find_comparable_baseline(request_.stores, candidate.environment, "smoke")->path, kept);
}

TEST_F(JudgingTest, LooksForTheSuiteThatIsNamedAndSaysWhatIsMissing) {
  store("kept", {});
  const auto expect_missing = [&](const baselines::Run& candidate, const auto& what) {
    EXPECT_FALSE(load_baseline(request_, candidate));
    EXPECT_THAT(missing_baseline_text(request_, candidate), what);
  };
  FakeRunFile file;
  file.suite = "";
  expect_missing(run(file), HasSubstr("--suite"));
  request_.suite = "pr";
  expect_missing(
      run(), AllOf(HasSubstr("suite pr is stored for nvidia-h200"), HasSubstr("fusegate accept")));
}

TEST_F(JudgingTest, TakesRunsAndStoredFilesAsNamedBaselines) {
  request_.baseline = {write_run(folder_, "base", {}, 3)};
  auto baseline = load_baseline(request_, run());
  EXPECT_FALSE(baseline->acceptance);
  EXPECT_EQ(baseline->run.benchmarks[0].processes.size(), 3u);
  request_.baseline = {folder_.path() / "base" / "1.json"};
  EXPECT_EQ(load_baseline(request_, run())->run.benchmarks[0].processes.size(), 1u);
  request_.baseline = {store("kept", {})};
  EXPECT_TRUE(load_baseline(request_, run())->acceptance);
}

TEST_F(JudgingTest, HasTheChoicesKeptThatTheBaselineMade) {
  const auto kept = [&](const std::string& suite) {
    const auto variables = keep_choices_environment(request_, suite, false);
    return variables.empty() ? "" : variables.at("FUSEGATE_KEEP_CHOICES");
  };
  EXPECT_EQ(kept("smoke"), "");
  const std::string first = folder_.write("kept/here/smoke.json", "{}").string();
  const std::string second = folder_.write("local/there/smoke.json", "{}").string();
  EXPECT_EQ(kept("smoke"), first + ":" + second) << "of every device: the program knows its own";
  EXPECT_EQ(kept("elsewhere/smoke.json"), first + ":" + second) << "a suite named by its file";
  EXPECT_EQ(kept("pr"), "");
  request_.baseline = {folder_.path() / "a", folder_.path() / "b"};
  EXPECT_EQ(kept("smoke"), request_.baseline[0].string() + ":" + request_.baseline[1].string());
  EXPECT_EQ(keep_choices_environment(request_, "smoke", true).at("FUSEGATE_KEEP_CHOICES"), "")
      << "in place of what our own environment says";
}

// How often a file was opened since this was made.
class Opens {
 public:
  explicit Opens(const fs::path& file) : events_(inotify_init1(IN_NONBLOCK)) {
    inotify_add_watch(events_, file.c_str(), IN_OPEN | IN_CLOSE);
  }
  Opens(const Opens&) = delete;
  Opens& operator=(const Opens&) = delete;
  ~Opens() { close(events_); }

  long count() const {
    std::array<inotify_event, 64> events{};
    const ssize_t size = read(events_, events.data(), sizeof(events));
    const auto end =
        events.begin() + (size < 0 ? 0 : size / static_cast<long>(sizeof(inotify_event)));
    return std::count_if(events.begin(), end,
                         [](const inotify_event& event) { return (event.mask & IN_OPEN) != 0; });
  }

 private:
  int events_;
};

TEST_F(JudgingTest, ReadsEveryFileOnce) {
  FakeRunFile slower;
  slower.times.begin()->second *= 1.05;
  request_.candidate = {write_run(folder_, "head", slower)};
  const fs::path stored = store("kept", {});
  const fs::path anchor = baselines::anchor_path(stored);
  fs::copy_file(store("local", slower), anchor);
  const Opens of_stored(stored), of_anchor(anchor), of_candidate(request_.candidate[0] / "1.json");
  judged(request_);
  EXPECT_EQ(of_stored.count(), 1);
  EXPECT_EQ(of_anchor.count(), 1);
  EXPECT_EQ(of_candidate.count(), 1);
  request_.baseline = {stored};
  judged(request_);
  EXPECT_EQ(of_stored.count(), 1) << "named";
  const fs::path run_file = folder_.path() / "head" / "2.json";
  const Opens of_run_file(run_file);
  request_.baseline = {run_file};
  judged(request_);
  EXPECT_EQ(of_run_file.count(), 2) << "once for either side";
}

TEST_F(JudgingTest, RefusesPublishedFigures) {
  request_.baseline = {store("kept", {}, true)};
  EXPECT_THAT(
      [&] { load_baseline(request_, run()); },
      ThrowsMessage<baselines::InputError>(AllOf(HasSubstr("published"), HasSubstr("smoke.json"))));
}

TEST_F(JudgingTest, RefusesTheRunThatTheBaselineWasMadeOf) {
  const std::string folder = write_run(folder_, "run", {});
  const auto candidate = baselines::load_run({folder});
  const auto expect_refused = [&] {
    EXPECT_THAT([&] { judge(candidate); },
                ThrowsMessage<baselines::InputError>(
                    HasSubstr(folder + ": is the run that the baseline " +
                              request_.baseline.front().string() + " was made of")));
  };
  request_.baseline = {store("kept", {})};
  expect_refused();
  request_.baseline = {folder};
  expect_refused();
  request_.baseline = {write_run(folder_, "other", {})};
  EXPECT_TRUE(judge(candidate).baseline);
  request_.baseline = {write_run(folder_, "run more", {}, 6)};
  EXPECT_TRUE(judge(candidate).baseline);
}

TEST_F(JudgingTest, NamesAnEnvironmentThatDiffersBeforeARunThatIsTheSame) {
  auto candidate = run();
  candidate.environment["device"] = "NVIDIA H100";
  request_.baseline = {store("kept", {})};
  const GateFacts facts = judge(candidate);
  EXPECT_EQ(facts.result.exit_code, baselines::ExitCode::kCouldNotJudge);
  EXPECT_EQ(facts.result.environment_differences.at(0).field, "device");
  request_.allow_environment_differences = true;
  EXPECT_THROW(judge(candidate), baselines::InputError);
}

TEST_F(JudgingTest, TakesTheSmallestEffectFromTheFlagThenTheBaselinesSuiteThenTheRule) {
  EXPECT_EQ(options_of({}).rule.min_effect, baselines::Rule().min_effect);
  EXPECT_EQ(options_of({{"min_effect", 0.03}}).rule.min_effect, 0.03);
  request_.min_effect = 0.01;
  EXPECT_EQ(options_of({{"min_effect", 0.03}}).rule.min_effect, 0.01);
}

TEST_F(JudgingTest, TakesWhatIsAllowedFromTheFlagThenTheBaselinesSuite) {
  EXPECT_EQ(gate_options(request_, run()).allow, 0.05) << "no suite says";
  FakeRunFile file;
  file.protocol = {{"samples", 48}, {"allow", 0.02}};
  const auto baseline = baselines::read_baseline(store("kept", file));
  EXPECT_EQ(gate_options(request_, baseline.run).allow, 0.02) << "a baseline keeps it";
  file.protocol["allow"] = 0.5;
  file.times.begin()->second *= 1.0001;
  EXPECT_EQ(judge(run(file)).options.allow, 0.02) << "the candidate's is not asked";
  request_.allow = 0.1;
  EXPECT_EQ(gate_options(request_, baseline.run).allow, 0.1);
}

TEST_F(JudgingTest, TwiceTheSmallestEffectIsAllowedOnACpuWhereTheSuiteSaysNoMore) {
  auto on_cpu = run({.protocol = {{"min_effect", 0.1}}});
  EXPECT_EQ(allow_of(on_cpu), 0.05) << "a GPU's";
  on_cpu.environment[baselines::kCpuCycles] = "cpu_time";
  EXPECT_EQ(allow_of(on_cpu), 0.2);
  on_cpu.provenance.protocol["allow"] = 0.15;
  EXPECT_EQ(allow_of(on_cpu), 0.15);
  on_cpu.provenance.protocol = {{"samples", 6}};
  EXPECT_EQ(allow_of(on_cpu), 0.05);
}

TEST_F(JudgingTest, RefusesWhatASuiteCannotMean) {
  const std::string no_fraction = " is not a fraction; expected a number between 0 and 1";
  const std::tuple<std::string, nlohmann::json, std::string> cases[] = {
      {"min_effect", "x", "\"x\"" + no_fraction},
      {"min_effect", -1, "-1" + no_fraction},
      {"min_effect", 1, "1" + no_fraction},
      {"allow", "2%", "\"2%\"" + no_fraction},
      {"allow", 0, "0" + no_fraction},
      {"allow", 1.0, "1.0" + no_fraction},
      {"allow", 0.001, "0.001 is below the smallest effect, 0.0015"},
      {"host_min_effect", 1, "1" + no_fraction},
      {"host_min_ns", -1, "-1 is not a time in ns; expected 0 or more"},
      {"host_min_ns", "1 us", "\"1 us\" is not a time in ns"}};
  for (const auto& [field, value, problem] : cases) {
    FakeRunFile file;
    file.protocol = {{field, value}};
    const baselines::Run baseline = run(file);
    EXPECT_THAT(
        [&] { gate_options(request_, baseline); },
        ThrowsMessage<baselines::InputError>(HasSubstr("run: protocol." + field + ": " + problem)));
  }
}

TEST_F(JudgingTest, WhatIsAllowedIsNoDifferenceOfProtocols) {
  FakeRunFile file;
  file.protocol = {{"samples", 48}};
  store("kept", file);
  file.protocol["allow"] = 0.02;
  file.times.begin()->second *= 1.0001;
  const GateFacts facts = judge(run(file));
  EXPECT_THAT(facts.result.environment_differences, ::testing::IsEmpty());
  EXPECT_EQ(facts.result.exit_code, baselines::ExitCode::kNoRegression);
  EXPECT_EQ(facts.options.allow, 0.05);
}

TEST_F(JudgingTest, ABaselineSaysWhatIsAControlAndSoDoesTheRequest) {
  FakeRunFile file;
  const std::string name = file.times.begin()->first;
  file.controls.emplace();
  store("kept", file);
  file.times[name] *= 1.5;
  file.controls = {name};
  const auto code = [&] { return judge(run(file)).result.exit_code; };
  EXPECT_EQ(code(), baselines::ExitCode::kRegression) << "the candidate alone says so";
  request_.controls = {"^" + name + "$"};
  EXPECT_EQ(code(), baselines::ExitCode::kNoRegression);
  request_.controls.emplace_back("^nothing");
  EXPECT_THAT(code, ThrowsMessage<baselines::InputError>(
                        HasSubstr("--control: \"^nothing\" matches no benchmark")));
}

TEST_F(JudgingTest, TakesABenchmarksOwnLimitsFromTheCandidateAndSaysWhereTheyDiffer) {
  FakeRunFile file;
  store("kept", file);
  file.times.begin()->second *= 1.2;
  const auto code = [&] { return judge(run(file)).result.exit_code; };
  EXPECT_EQ(code(), baselines::ExitCode::kRegression);
  file.settings = {{"^geglu/", {{"min_effect", 0.5}}}};
  const GateFacts facts = judge(run(file));
  EXPECT_EQ(facts.result.exit_code, baselines::ExitCode::kNoRegression);
  EXPECT_THAT(
      gate_notes(facts),
      ::testing::Contains("The candidate's suite changes min_effect from 0.15 % to 50 % for "
                          "1 benchmark: " +
                          file.times.begin()->first + ". Its limits count."));
  store("kept", file);
  file.times.begin()->second *= 1.0001;
  EXPECT_THAT(gate_notes(judge(run(file))),
              ::testing::Not(::testing::Contains(HasSubstr("limits"))));
  request_.min_effect = 0.001;
  EXPECT_TRUE(judge(run(file)).options.settings.at("^geglu/") == baselines::BenchmarkSettings{});
}

TEST_F(JudgingTest, TestsSideBySideAgainstLessWhereNobodySaysWhatMatters) {
  const auto tested = [&](const nlohmann::json& protocol, bool side_by_side) {
    return tested_effect(options_of(protocol, side_by_side).rule);
  };
  EXPECT_EQ(tested({}, true), baselines::kTestedSideBySide);
  EXPECT_EQ(options_of({}, true).rule.min_effect, baselines::Rule{}.min_effect);
  EXPECT_EQ(tested({}, false), baselines::Rule{}.min_effect);
  EXPECT_EQ(tested({{"min_effect", 0.2}}, true), 0.2);
  request_.min_effect = 0.01;
  EXPECT_EQ(tested({}, true), 0.01);
}

TEST_F(JudgingTest, TakesWhatACallMustCostTheHostMoreFromTheBaselinesSuite) {
  const auto host_rule = [&](const nlohmann::json& protocol) {
    const baselines::HostRule rule = options_of(protocol).rule.host;
    return std::pair(rule.min_effect, rule.min_ns);
  };
  EXPECT_EQ(host_rule({}), std::pair(0.1, 1000.0));
  EXPECT_EQ(host_rule({{"host_min_effect", 0.2}, {"host_min_ns", 500}}), std::pair(0.2, 500.0));
}

TEST_F(JudgingTest, TakesWhatCardsDifferByFromACalibrationOfTheDevice) {
  const auto calibration = [this](const std::string& name, int cards) {
    return folder_
        .write(name, fmt::format(R"({{"fusegate_calibration": 1, "between_card": {{
        "cards": {}, "time": 0.01, "cycles": 0.004, "equal_clock": 0.003,
        "classes": {{"all": {{"from_ns": 0}}}}}}}})",
                                 cards))
        .string();
  };
  const auto known = [this] { return gate_options(request_, run()).rule.cards; };
  EXPECT_EQ(known().calibration, "");
  const std::string other_suite = calibration("local/nvidia-h200/pr.calibration.json", 3);
  EXPECT_EQ(known().calibration, other_suite);
  const std::string own = calibration("local/nvidia-h200/smoke.calibration.json", 4);
  EXPECT_EQ(known().calibration, own) << "the suite's own first";
  EXPECT_EQ(known().cards, 4);
  const std::string kept = calibration("kept/nvidia-h200/pr.calibration.json", 5);
  EXPECT_EQ(known().calibration, kept) << "store by store";
  request_.baseline = {folder_.write("elsewhere/smoke.json", "{}")};
  const std::string beside = calibration("elsewhere/smoke.calibration.json", 6);
  EXPECT_EQ(known().calibration, beside) << "beside the baseline that is named";
  request_.baseline.clear();
  folder_.write("kept/nvidia-h200/pr.calibration.json", "{}");
  EXPECT_EQ(known().calibration, own) << "one card does not show the variation between cards";
}

// What a replay measured lies in the folder "base", and the candidate's in "head".
class JudgingAReplay : public JudgingTest {
 protected:
  JudgingAReplay() {
    FakeRunFile stored{.driver = "999.0"};
    for (auto& [benchmark, time_ns] : stored.times) time_ns *= 0.8;
    stored.protocol = {{"min_effect", 0.02}, {"samples", 48}};
    request_.replay_of = store("kept", stored);
    request_.baseline = {folder_.path() / "base"};
    request_.candidate = {folder_.path() / "head"};
  }
  GateFacts judged(const nlohmann::json& base_protocol, const nlohmann::json& head_protocol) {
    write_run(folder_, "base", {.protocol = base_protocol});
    write_run(folder_, "head", {.protocol = head_protocol});
    return ci::judged(request_);
  }
};

TEST_F(JudgingAReplay, GatesByTheReplayedAndShowsTheStored) {
  const GateFacts facts = judged({{"samples", 48}}, {{"samples", 48}});
  EXPECT_EQ(facts.result.exit_code, baselines::ExitCode::kNoRegression);
  EXPECT_TRUE(facts.result.staleness->libraries.empty()) << "both were measured here";
  ASSERT_EQ(facts.replay->rows.size(), 2u);
  EXPECT_NEAR(facts.replay->rows[0].machine.estimates.in_time, 0.25, 1e-3);
  EXPECT_NEAR(facts.replay->rows[0].code, 0, 1e-3);
  EXPECT_EQ(facts.replay->differences.at(0).field, "driver");
}

TEST_F(JudgingAReplay, KeepsTheStoredRule) {
  EXPECT_EQ(judged({{"min_effect", 0.1}}, {{"min_effect", 0.1}}).options.rule.min_effect, 0.02);
}

TEST_F(JudgingAReplay, NamesTheStoredOnesAgeAndWhatCreptSinceItsAnchor) {
  FakeRunFile anchor;
  anchor.times.begin()->second *=
      0.8;  // one of the two: the other shows that the machine did not change
  fs::rename(store("local", anchor), baselines::anchor_path(*request_.replay_of));
  request_.max_age_days = 0.1;
  const GateFacts noted = judged({}, {});
  EXPECT_EQ(noted.result.exit_code, baselines::ExitCode::kNoRegression);
  EXPECT_TRUE(noted.result.staleness->too_old);
  EXPECT_EQ(noted.result.creep->slower.size(), 1u);
  request_.max_creep = 0.03;
  EXPECT_EQ(judged({}, {}).result.exit_code, baselines::ExitCode::kRegression);
}

TEST_F(JudgingAReplay, AProgramMayBeOlderThanAFieldOfTheProtocol) {
  EXPECT_EQ(judged({{"samples", 48}}, {{"samples", 48}, {"l2", "warm"}}).result.exit_code,
            baselines::ExitCode::kNoRegression);
  EXPECT_EQ(judged({{"samples", 48}}, {{"samples", 12}}).result.exit_code,
            baselines::ExitCode::kCouldNotJudge);
  request_.replay_of.reset();
  EXPECT_EQ(judged({{"samples", 48}}, {{"samples", 48}, {"l2", "warm"}}).result.exit_code,
            baselines::ExitCode::kCouldNotJudge);
}

}  // namespace
}  // namespace fusegate::ci
