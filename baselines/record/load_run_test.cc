#include "baselines/record/load_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "baselines/io/error.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/launches/identities.h"
#include "baselines/record/baseline.h"

namespace fusegate::baselines {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

json sample(const std::string& name, double time_us) {
  return {{"name", name}, {"iterations", 1}, {"real_time", time_us}, {"time_unit", "us"}};
}

json failed(const std::string& name, const std::string& message) {
  return {{"name", name}, {"error_occurred", true}, {"error_message", message}};
}

json skipped_as(json entry, const char* name) {
  entry["name"] = name;
  return entry;
}

// Each of a process of its own.
std::string run_file(json entries, json fusegate = json::object()) {
  static int process = 0;
  fusegate["process"] = ++process;
  return json{{"context", {{"fusegate", std::move(fusegate)}}}, {"benchmarks", std::move(entries)}}
      .dump();
}

std::vector<double> times_us(const BenchmarkSeries& series) {
  std::vector<double> times;
  for (const auto& process : series.processes) times.push_back(process.time_ns / 1e3);
  return times;
}

class LoadRun : public testing::Test {
 protected:
  auto load() const { return load_run({folder_.path()}); }
  static std::string refusal(const std::vector<std::filesystem::path>& paths) {
    try {
      load_run(paths);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  std::string refusal() const { return refusal({folder_.path()}); }

  const ScratchFolder folder_;
};

TEST_F(LoadRun, AFolderIsItsRunFilesInTheOrderOfProcesses) {
  for (const int i : {10, 2, 1}) {
    folder_.write(std::to_string(i) + ".json", run_file({sample("a", i)}));
  }
  folder_.write("run.json", "{}");
  folder_.write("notes.txt", "neither");
  folder_.write(".3.json", "a temporary file of something");
  const auto run = load();
  EXPECT_EQ(run.source, folder_.path().string());
  ASSERT_EQ(run.benchmarks.size(), 1u);
  EXPECT_THAT(times_us(run.benchmarks[0]), ElementsAre(1, 2, 10));
}

json unfinished() { return {{"finished", false}}; }

TEST_F(LoadRun, ProcessesThatDidNotFinishAreNamedAndCountWhereAskedForAlone) {
  folder_.write("1.json", run_file({sample("a", 1)}, {{"finished", true}}));
  folder_.write("2.json", run_file({sample("a", 2)}));  // a plain file does not say
  const auto third = folder_.write("3.json", run_file({sample("a", 3)}, unfinished()));
  const auto run = load();
  EXPECT_THAT(times_us(run.benchmarks.at(0)), ElementsAre(1, 2));
  EXPECT_EQ(run.process_names.size(), 2u);
  EXPECT_THAT(unfinished_texts(run),
              ElementsAre("1 process did not finish and is left out: " + third.string()));
  const auto whole = load_run({folder_.path()}, Unfinished::kCounts);
  EXPECT_THAT(times_us(whole.benchmarks.at(0)), ElementsAre(1, 2, 3));
  EXPECT_THAT(unfinished_texts(whole),
              ElementsAre("1 process did not finish and counts (--unfinished): " + third.string()));
  EXPECT_THAT(reasons_not_to_accept(run), Contains(HasSubstr("did not finish")));
}

TEST_F(LoadRun, ARunOfNothingFinishedIsNone) {
  const auto file = folder_.write("1.json", run_file({sample("a", 1)}, unfinished()));
  EXPECT_THAT(refusal({file}), AllOf(HasSubstr("no finished process"), HasSubstr(file.string()),
                                     HasSubstr("--unfinished")));
  EXPECT_EQ(load_run({file}, Unfinished::kCounts).benchmarks.size(), 1u);
}

TEST_F(LoadRun, SaysOfARunThatItDidNotComeToItsEnd) {
  folder_.write("1.json", run_file({sample("a", 1)}));
  folder_.write("run.json", R"({"finished": true})");
  EXPECT_THAT(unfinished_texts(load()), ElementsAre());
  folder_.write("run.json", R"({"finished": false})");
  const std::string text =
      "the run in " + folder_.path().string() + " did not finish; measure it again";
  const auto run = load();
  EXPECT_THAT(unfinished_texts(run), ElementsAre(text));
  EXPECT_THAT(reasons_not_to_accept(run), Contains(text));
}

CallIdentity doing_what(const char* code) {
  return {.launches = {{.kernel = "k", .code = code}}, .order = "5d"};
}

json sample_doing(const char* code) {
  json entry = sample("a", 1);
  entry["details"] = {{"identity", identity_json(doing_what(code))}};
  return entry;
}

TEST_F(LoadRun, AnIdentityIsThatOfAllProcesses) {
  const auto one = folder_.write("1.json", run_file({sample_doing("0f")}));
  const auto same = folder_.write("2.json", run_file({sample_doing("0f")}));
  const auto other = folder_.write("3.json", run_file({sample_doing("1e")}));
  const auto silent = folder_.write("4.json", run_file({sample("a", 1)}));
  const auto identity = [](const std::vector<std::filesystem::path>& paths) {
    return load_run(paths).benchmarks.at(0).identity;
  };
  EXPECT_EQ(identity({one, same}).value().launches.at(0).code, "0f");
  EXPECT_EQ(identity({one, other}).value().unknown, "it differs from process to process");
  EXPECT_EQ(identity({one, silent, same}).value().unknown, "only 2 of 3 processes have one");
  EXPECT_FALSE(identity({silent}).has_value());
}

TEST_F(LoadRun, WhatWasKnownBeforeNamesWhatWasNotMeasured) {
  folder_.write("1.json", run_file({sample_doing("0f"), sample("silent", 2)}));
  write_identities(folder_.path() / kIdentitiesFile,
                   {.context = json::object(),
                    .benchmarks = {{"a", doing_what("1e")},
                                   {"equal", doing_what("2d")},
                                   {"silent", doing_what("3c")}},
                    .choices = {},
                    .failures = {{"broken", "no memory"}, {"silent", "it was busy"}}});
  const auto run = load();
  ASSERT_EQ(run.benchmarks.size(), 4u);
  const auto& [a, broken, equal, silent] =
      std::tie(run.benchmarks[0], run.benchmarks[1], run.benchmarks[2], run.benchmarks[3]);
  EXPECT_EQ(a.identity->launches.at(0).code, "0f");  // what the process itself says
  EXPECT_EQ(broken.failure, "no memory");
  EXPECT_TRUE(equal.is_unmeasured());
  EXPECT_EQ(equal.identity->launches.at(0).code, "2d");
  EXPECT_EQ(silent.identity->launches.at(0).code, "3c");
  EXPECT_EQ(silent.failure, "");  // it was measured after all
  EXPECT_EQ(unmeasured_text(run),
            "1 of 4 benchmarks was not measured: identical code; --all measures them too");
}

TEST_F(LoadRun, OfWhatWasNotMeasuredAtAllTheEnvironmentIsKnown) {
  const json context{{"environment", {{"device", "H200"}}}, {"suite", "pr"}};
  write_identities(
      folder_.path() / kIdentitiesFile,
      {.context = context, .benchmarks = {{"a", doing_what("0f")}}, .choices = {}, .failures = {}});
  const auto run = load();
  EXPECT_EQ(run.environment.at("device"), "H200");
  EXPECT_EQ(run.provenance.suite, "pr");
  std::filesystem::copy(folder_.path() / kIdentitiesFile, folder_.path() / "kept");
  EXPECT_EQ(load_run({folder_.path() / "kept"}).environment, run.environment) << "by another name";
  EXPECT_TRUE(run.benchmarks.at(0).is_unmeasured());
  folder_.write("1.json", run_file({sample("a", 1)}, {{"environment", {{"device", "A100"}}}}));
  EXPECT_THAT(refusal(), HasSubstr("must have the same environment"));
}

TEST_F(LoadRun, ProcessesOverSeveralRanksSayWhichNcclTheRunHas) {
  const auto on = [](json environment) { return json{{"environment", std::move(environment)}}; };
  folder_.write("1.json", run_file({sample("a", 1)}, on({{"device", "H200"}})));
  folder_.write("2.json", run_file({sample("b", 1)}, on({{"device", "H200"}, {"nccl", "2.28.9"}})));
  EXPECT_EQ(load().environment.at("nccl"), "2.28.9");
  folder_.write("3.json", run_file({sample("b", 1)}, on({{"device", "H200"}, {"nccl", "2.29.2"}})));
  EXPECT_THAT(refusal(), HasSubstr("environment.nccl: is \"2.29.2\""));
}

TEST_F(LoadRun, FoldersAndFilesMakeOneRun) {
  folder_.write("run/1.json", run_file({sample("b", 1), sample("a", 5)}));
  const auto file = folder_.write("more.json", run_file({sample("b", 2), sample("c", 7)}));
  const auto run = load_run({folder_.path() / "run", file});
  ASSERT_EQ(run.benchmarks.size(), 3u);
  EXPECT_EQ(run.benchmarks[0].name, "a");
  EXPECT_EQ(run.benchmarks[1].name, "b");
  EXPECT_THAT(times_us(run.benchmarks[1]), ElementsAre(1, 2));
  EXPECT_EQ(run.benchmarks[2].name, "c");
}

TEST_F(LoadRun, ReadsBlocksAndExtensionsOfItsRecord) {
  const auto write = [&](const std::string& name, const std::string& session, int first_block) {
    folder_.write(name + "/1.json", run_file({sample("a", 1)}));
    folder_.write(name + "/2.json", run_file({sample("a", 2)}));
    folder_.write(name + "/run.json",
                  json{{"session", session},
                       {"processes",
                        {{{"file", "1.json"}, {"block", first_block}},
                         {{"file", "2.json"}, {"block", first_block + 1}, {"extension", true}}}}}
                      .dump());
    return folder_.path() / name;
  };
  const auto base = write("base", "s", 1);
  const auto again = write("again", "s", 1);
  const auto other = write("other", "t", 1);
  const auto run = load_run({base, again});
  EXPECT_EQ(run.session, "s");
  ASSERT_EQ(run.benchmarks.at(0).processes.size(), 4u);
  EXPECT_EQ(run.benchmarks[0].processes[1].block, 2);
  EXPECT_TRUE(run.benchmarks[0].processes[1].extension);
  EXPECT_FALSE(run.benchmarks[0].processes[2].extension);
  EXPECT_EQ(load_run({base, other}).session, "");
  EXPECT_EQ(load_run({base / "1.json"}).session, "");
}

TEST_F(LoadRun, GathersWhatProcessesReport) {
  json first = sample("a", 1);
  first["flops"] = 10;
  first["details"] = {{"choices", {{"algo", "1"}}}, {"warnings", {"unsteady"}}};
  json second = sample("a", 2);
  second["flops"] = 30;
  second["details"] = {{"choices", {{"algo", "2"}}}, {"warnings", {"unsteady", "short_batch"}}};
  folder_.write("1.json", run_file({first}, {{"suite", "pr"},
                                             {"provenance", {{"commit", "abc"}}},
                                             {"warnings", {"dirty_tree"}}}));
  folder_.write("2.json", run_file({second}, {{"warnings", {"throttled", "dirty_tree"}}}));
  const auto run = load();
  EXPECT_EQ(run.provenance.commit, "abc");
  EXPECT_EQ(run.provenance.suite, "pr");
  EXPECT_THAT(run.warnings, ElementsAre(Warning::kDirtyTree, Warning::kThrottled));
  const BenchmarkSeries& series = run.benchmarks.at(0);
  EXPECT_EQ(series.counters.at("flops"), 20);
  EXPECT_EQ(series.choices.at("algo"), "2");
  EXPECT_THAT(series.warnings,
              ElementsAre(Warning::kUnsteady, Warning::kShortBatch, Warning::kMixedChoices));
}

// A pinned candidate is the one that was tuned.
TEST_F(LoadRun, WarnsWhereProcessesChoseOtherKernels) {
  const auto run_of = [](const char* choice) {
    json entry = sample("a", 1);
    entry["details"] = {{"choices", {{"down", choice}}}};
    return run_file({entry});
  };
  folder_.write("1.json", run_of("tuned: candidate 3 of 8, algo 66"));
  folder_.write("2.json", run_of("pinned: candidate 1 of 8, algo 66"));
  EXPECT_THAT(load().benchmarks.at(0).warnings, testing::IsEmpty());
  folder_.write("3.json", run_of("tuned: candidate 1 of 8, algo 21"));
  EXPECT_THAT(load().benchmarks.at(0).warnings, ElementsAre(Warning::kMixedChoices));
}

TEST_F(LoadRun, GathersWhatCallsLaunched) {
  const auto launched = [](double duration_ns, bool met) {
    json entry = sample("a", 1);
    CallProfile profile;
    profile.kernels = {{.name = "k", .span = {"addmm", 0, duration_ns, 1}}};
    entry["details"] = {{"profile", call_profile_json(profile)},
                        {"expectation", expectation_json({{{"addmm", "1 GEMM", "k", met}}})}};
    return run_file(json::array({entry}));
  };
  folder_.write("1.json", launched(100, true));
  folder_.write("2.json", launched(300, false));
  folder_.write("3.json", launched(200, true));
  const auto run = load();
  EXPECT_DOUBLE_EQ(run.benchmarks.at(0).stage_times.value().span_ns, 200);
  EXPECT_EQ(run.benchmarks.at(0).stage_times->processes, 3);
  EXPECT_FALSE(run.benchmarks.at(0).expectation.value().met()) << "once is enough";
}

TEST_F(LoadRun, KeepsTheFirstFailureAndTheProcessesThatSucceeded) {
  folder_.write("1.json", run_file({sample("a", 1)}));
  folder_.write("2.json", run_file({failed("a", "first")}));
  folder_.write("3.json", run_file({failed("a", "second")}));
  const auto run = load();
  EXPECT_EQ(run.benchmarks.at(0).failure, "first");
  EXPECT_THAT(times_us(run.benchmarks[0]), ElementsAre(1));
}

TEST_F(LoadRun, NothingMeasuredIsAnError) {
  EXPECT_THAT(refusal(),
              HasSubstr("no finished process: neither the folder nor its subfolders have "
                        "run files"));
  folder_.write("1.json", run_file(json::array()));
  EXPECT_THAT(refusal(),
              AllOf(StartsWith(folder_.path().string()), HasSubstr("no finished process")));
  EXPECT_THAT(refusal({folder_.path() / "absent"}), HasSubstr("absent: cannot open: No such file"));
  EXPECT_THROW(load_run({}), InputError);
}

TEST_F(LoadRun, ProcessesOfOneRunShareTheirEnvironment) {
  folder_.write("1.json", run_file({sample("a", 1)}, {{"environment", {{"driver", "580"}}}}));
  folder_.write("2.json", run_file({sample("a", 1)}, {{"environment", {{"driver", "590"}}}}));
  EXPECT_THAT(refusal(), AllOf(HasSubstr("2.json: environment.driver: "), HasSubstr("\"590\""),
                               HasSubstr("\"580\""), HasSubstr("1.json")));
}

TEST_F(LoadRun, AFailureShiftsNoProcess) {
  folder_.write("1.json", run_file({sample("a", 1), sample("b", 1)}));
  folder_.write("2.json", run_file({failed("a", "no memory"), sample("b", 2)}));
  folder_.write("3.json", run_file({sample("a", 3), sample("b", 3)}));
  const auto run = load();
  EXPECT_THAT(run.process_names, ElementsAre("1.json", "2.json", "3.json"));
  EXPECT_EQ(run.benchmarks.at(0).processes.at(1).process, 2);
  EXPECT_EQ(run.benchmarks.at(1).processes.at(2).process, 2);
}

TEST_F(LoadRun, ProcessesOfSeveralFoldersAreNamedWithThem) {
  folder_.write("first/1.json", run_file({sample("a", 1)}));
  folder_.write("second/1.json", run_file({sample("a", 1)}));
  EXPECT_THAT(load_run({folder_.path() / "first", folder_.path() / "second"}).process_names,
              ElementsAre("first/1.json", "second/1.json"));
}

TEST_F(LoadRun, KeepsTheCardsOfItsProcessesApart) {
  const auto measured_on = [&](const char* name, const char* uuid) {
    return folder_.write(name,
                         run_file({sample("a", 1)}, {{"provenance", {{"device_uuid", uuid}}}}));
  };
  const auto run = load_run({measured_on("1.json", "GPU-1"), measured_on("2.json", "GPU-2"),
                             measured_on("3.json", "GPU-1")});
  EXPECT_THAT(run.cards, ElementsAre("GPU-1", "GPU-2"));
  EXPECT_EQ(run.provenance.device_uuid, "GPU-1");
  std::vector<int> cards;
  for (const auto& summary : run.benchmarks.at(0).processes) cards.push_back(summary.card);
  EXPECT_THAT(cards, ElementsAre(0, 1, 0));
}

TEST_F(LoadRun, KeepsWhatACallCostsTheHostInEveryProcess) {
  for (const int i : {1, 2, 3}) {
    json entry = sample("a", 1);
    entry["host_ns"] = 9000 + i;
    folder_.write(std::to_string(i) + ".json", run_file({entry}));
  }
  const BenchmarkSeries series = load().benchmarks.at(0);
  std::vector<double> host_ns;
  for (const auto& summary : series.processes) host_ns.push_back(summary.host_ns);
  EXPECT_THAT(host_ns, ElementsAre(9001, 9002, 9003));
  EXPECT_EQ(series.counters.at("host_ns"), 9002);
}

TEST_F(LoadRun, NamesEveryMachineOfARunOnce) {
  const auto measured_on = [&](const char* name, const char* host, const char* cpu) {
    return folder_.write(name, run_file({sample("a", 1)}, {{"provenance", {{"host", host}}},
                                                           {"machine", {{"cpu", cpu}}}}));
  };
  const auto run =
      load_run({measured_on("1.json", "node-1", "Xeon"), measured_on("2.json", "node-10", "Xeon"),
                measured_on("3.json", "node-1", "EPYC"), measured_on("4.json", "node-10", "EPYC")});
  EXPECT_EQ(run.provenance.host, "node-1, node-10");
  EXPECT_EQ(run.provenance.cpu, "Xeon, EPYC");
}

TEST_F(LoadRun, TheSameFileTwiceIsRefused) {
  const auto file = folder_.write("1.json", run_file({sample("a", 1)}));
  EXPECT_THAT(refusal({folder_.path(), folder_.path() / "." / "1.json"}), HasSubstr("named twice"));
}

TEST_F(LoadRun, WaitsForNoPipeOfARunFolder) {
  folder_.write("1.json", run_file({sample("a", 1)}));
  for (const char* name : {"run.json", "identities.json", "2.json"}) {
    const auto pipe = folder_.path() / name;
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_THAT(refusal(), HasSubstr(pipe.string() + ": is neither a file"));
    std::filesystem::remove(pipe);
  }
}

TEST_F(LoadRun, ProcessesOfOneRunShareTheirTool) {
  const auto test = [](json stats) {
    json file{{"machine_info", json::object()}, {"benchmarks", json::array()}};
    file["benchmarks"].push_back({{"fullname", "a"}, {"stats", std::move(stats)}});
    return file.dump();
  };
  const auto one = folder_.write("1.json", test({{"data", {0.1}}}));
  const auto two = folder_.write("2.json", test({{"data", {0.2}}}));
  const auto mean = folder_.write("3.json", test({{"mean", 0.1}}));
  const auto plain = folder_.write("4.json", run_file({sample("a", 1)}));
  EXPECT_EQ(load_run({one, two}).process_names.size(), 2u);
  const auto expect_refused = [](const auto& first, const auto& second, const char* words) {
    EXPECT_THAT(refusal({first, second}),
                AllOf(HasSubstr(words), HasSubstr("must have the same tool")));
  };
  expect_refused(one, mean, "3.json: protocol.figures: is \"mean\", but \"samples\" in ");
  expect_refused(one, plain, "4.json: protocol.figures: is \"(absent)\"");
  expect_refused(plain, one, "1.json: protocol.figures: is \"samples\"");
}

TEST_F(LoadRun, ReportsWhatWasSkippedByReason) {
  const auto run = load_run({FUSEGATE_FORMATS "/nvbench/axes/base"});
  EXPECT_EQ(skipped_text(run),
            "3 benchmarks were skipped: copy_type_conversion_sweep/In:F32/Out:I16, "
            "copy_type_conversion_sweep/In:I32/Out:I16 (Narrowing conversion: sizeof(InputType) > "
            "sizeof(OutputType).); copy_type_conversion_sweep/In:I32/Out:I32 (Not a conversion: "
            "InputType == OutputType.)");
  EXPECT_EQ(skipped_text(load_run({FUSEGATE_FORMATS "/pytest-benchmark/base"})), "");
}

TEST_F(LoadRun, ReportsTheFirstBadFileWhicheverThreadMetIt) {
  for (int i = 1; i <= 9; ++i) {
    folder_.write(std::to_string(i) + ".json", i < 4 ? run_file({sample("a", i)}) : "}");
  }
  for (int round = 0; round < 20; ++round) {
    EXPECT_THAT(refusal(), HasSubstr("4.json: not valid JSON"));
  }
}

Baseline small_baseline() {
  Baseline baseline;
  baseline.acceptance = {"somebody", "2026-11-21T02:00:00+00:00", "first"};
  baseline.run.environment = {{"device", "NVIDIA H200"}};
  BenchmarkSeries series;
  series.name = "a";
  series.processes = {{1000, std::nan(""), 0.01, 60}, {1010, std::nan(""), 0.01, 60}};
  baseline.run.benchmarks = {series};
  return baseline;
}

TEST_F(LoadRun, AStoredBaselineIsARun) {
  const auto path = folder_.write("pr.json", baseline_text(small_baseline()));
  const auto run = load_run({path});
  EXPECT_EQ(run.source, path.string());
  EXPECT_THAT(times_us(run.benchmarks.at(0)), ElementsAre(1, 1.01));
}

TEST_F(LoadRun, AStoredBaselineCannotBeJoinedWithOtherFiles) {
  const auto baseline = folder_.write("pr.json", baseline_text(small_baseline()));
  const auto file = folder_.write("1.json", run_file({sample("a", 1)}));
  EXPECT_THAT(refusal({file, baseline}), HasSubstr("pr.json: a stored baseline is a whole run"));
}

TEST_F(LoadRun, NothingIsGatedAgainstAPublication) {
  Baseline published = small_baseline();
  published.published = true;
  const auto path = folder_.write("a100.json", baseline_text(published));
  EXPECT_THAT(refusal({path}), HasSubstr("a100.json: published: "));
}

TEST_F(LoadRun, NamesWhatSomeProcessesLack) {
  for (int i = 1; i <= 3; ++i) {
    json entries = json::array({sample("a", i)});
    if (i < 3) entries.push_back(sample("b", i));
    folder_.write(fmt::format("{}.json", i), run_file(entries));
    // Another program's processes need not have it.
    folder_.write(fmt::format("other-{}.json", i), run_file({sample("c", i)}));
  }
  const auto run = load();
  EXPECT_THAT(run.left_out, ElementsAre(Pair("b", "2 of 3 processes have it")));
  EXPECT_EQ(left_out_text(run),
            "1 benchmark is not judged, or not from all processes: b (2 of 3 processes have it)");
  EXPECT_THAT(reasons_not_to_accept(run), Contains(HasSubstr("b (2 of 3 processes")));
}

TEST_F(LoadRun, WhatIsMeasuredAfreshMayBeAPart) {
  for (int i = 1; i <= 2; ++i) {
    folder_.write(fmt::format("{}.json", i), run_file({sample("a", i), sample("b", i)}));
  }
  folder_.write("3.json", run_file({sample("a", 3)}));
  folder_.write("run.json", json{{"processes",
                                  {{{"file", "1.json"}, {"block", 1}},
                                   {{"file", "2.json"}, {"block", 2}},
                                   {{"file", "3.json"}, {"block", 3}, {"extension", true}}}}}
                                .dump());
  EXPECT_TRUE(load().left_out.empty());
}

TEST_F(LoadRun, CardsMayShareOutASuiteDifferently) {
  const auto card = [&](const std::string& name, const char* first, const char* second) {
    json processes;
    for (int shard = 1; shard <= 2; ++shard) {
      const std::string file = fmt::format("{}.json", shard);
      json entries;
      for (const char benchmark : std::string(shard == 1 ? first : second)) {
        entries.push_back(sample(std::string(1, benchmark), name.back() - '0' + shard));
      }
      folder_.write(fmt::format("{}/{}", name, file), run_file(entries));
      processes.push_back({{"file", file}, {"block", 1}, {"shard", shard}});
    }
    folder_.write(name + "/run.json", json{{"processes", processes}}.dump());
    return folder_.path() / name;
  };
  const std::vector<std::filesystem::path> cards{card("card-0", "ax", "by"),
                                                 card("card-1", "ab", "xy")};
  EXPECT_TRUE(load_run(cards).left_out.empty());
}

TEST_F(LoadRun, WhatSomeProcessesSkippedIsMeasuredByTheOthers) {
  json skipped = failed("a", "needs sm_90");
  skipped.erase("error_occurred");
  skipped["skipped"] = true;
  folder_.write("1.json", run_file({sample("a", 1), skipped_as(skipped, "b")}));
  folder_.write("2.json", run_file({skipped, skipped_as(skipped, "b"), sample("c", 1)}));
  const auto run = load();
  EXPECT_THAT(run.skipped, ElementsAre(Pair("b", "needs sm_90")));
  EXPECT_THAT(run.left_out, ElementsAre(Pair("a", "some processes skipped it: needs sm_90")));
  EXPECT_TRUE(run.benchmarks.at(0).failure.empty());
}

TEST_F(LoadRun, RefusesCopiesOfOneProcess) {
  const std::string text = run_file({sample("a", 1)});
  folder_.write("1.json", text);
  folder_.write("2.json", json::parse(text).dump(2));
  EXPECT_THAT(refusal(), AllOf(HasSubstr("2.json: is a copy of "), HasSubstr("/1.json")));
}

TEST_F(LoadRun, RefusesTwoFilesOfOneProcess) {
  const auto file = [&](const char* name, double us, int id) {
    folder_.write(name, run_file({sample("a", us)}, {{"process_id", id}, {"process_start_ns", 7}}));
  };
  file("1.json", 1, 3);
  file("2.json", 1.1, 4);
  EXPECT_EQ(load().benchmarks.at(0).processes.size(), 2u);
  file("3.json", 1.2, 3);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("3.json: is a copy of "),
                               HasSubstr("1.json: the same process wrote both")));
}

TEST_F(LoadRun, TheSuiteIsTheFilesOrElseTheFolders) {
  folder_.write("run.json", R"({"suite": "mine"})");
  folder_.write("1.json", run_file({sample("a", 1)}));
  EXPECT_EQ(load().provenance.suite, "mine");
  folder_.write("1.json", run_file({sample("a", 1)}, {{"suite", "pr"}}));
  EXPECT_EQ(load().provenance.suite, "pr");
}

TEST_F(LoadRun, ReadsTheNamesOfKeysBefore) {
  const json former{{"invocation", 3}, {"protocol", {{"places", 12}, {"samples", 24}}}};
  folder_.write("1.json", run_file({sample("a", 1)}, former));
  const json protocol{{"layouts", 12}, {"samples", 24}};
  folder_.write("2.json", run_file({sample("a", 1)}, {{"protocol", protocol}}));
  folder_.write("run.json", R"({"invocations": [{"file": "2.json", "block": 7}]})");
  const auto run = load();
  ASSERT_EQ(run.benchmarks.at(0).processes.size(), 2u);
  EXPECT_EQ(run.benchmarks[0].processes[1].block, 7);
  EXPECT_EQ(load_run({folder_.path() / "1.json"}).provenance.protocol, protocol);
  for (const char* device : {"nvidia-h200", "nvidia-h100-80gb-hbm3"}) {
    const auto stored =
        read_baseline(std::filesystem::path(FUSEGATE_STORE) / device / "pr.json").run;
    EXPECT_EQ(stored.provenance.protocol.at("layouts"), 48) << device;
    EXPECT_FALSE(stored.provenance.protocol.contains("places")) << device;
  }
}

TEST_F(LoadRun, AFileThatEndsInTheMiddleIsAProcessThatDidNotFinish) {
  const std::string text = run_file({sample("a", 1), sample("a", 2)});
  folder_.write("1.json", run_file({sample("a", 1)}));
  const auto cut = folder_.write("2.json", text.substr(0, text.size() / 2));
  folder_.write("3.json", "");
  const auto run = load();
  EXPECT_EQ(run.benchmarks.at(0).processes.size(), 1u);
  EXPECT_THAT(unfinished_texts(run), ElementsAre(HasSubstr("2 files end in the middle")));
  EXPECT_THAT(refusal({cut}), HasSubstr("1 file ends in the middle"));
  folder_.write("4.json", "{\"benchmarks\": [}");
  EXPECT_THAT(refusal(), HasSubstr("not valid JSON"));
}

std::string of_commit(const char* commit, bool dirty = false) {
  return run_file({sample("a", 1)}, {{"provenance", {{"commit", commit}, {"dirty", dirty}}}});
}

TEST_F(LoadRun, ARunIsOfOneCommit) {
  const auto first = folder_.write("storage/1.json", of_commit("aaa"));
  const auto again = folder_.write("storage/2.json", of_commit("aaa", true));
  const auto other = folder_.write("storage/3.json", of_commit("bbb"));
  EXPECT_THAT(refusal(), AllOf(HasSubstr("files of 2 commits"),
                               HasSubstr("aaa (1.json, 2.json); bbb (3.json)")));
  const auto run = load_run({first, again});
  EXPECT_TRUE(run.provenance.dirty);
  EXPECT_THAT(reasons_not_to_accept(run), Contains(HasSubstr("uncommitted changes")));
}

TEST_F(LoadRun, ReadsAFolderAProcess) {
  for (int i : {1, 2, 10}) {
    folder_.write(fmt::format("runs/run-{}/result.json", i), run_file({sample("a", i)}));
  }
  folder_.write("runs/logs/out.txt", "no run file");
  EXPECT_THAT(load_run({folder_.path() / "runs"}).process_names,
              ElementsAre("run-1/result.json", "run-2/result.json", "run-10/result.json"));
  folder_.write("storage/machine/1.json", run_file({sample("a", 1)}));
  folder_.write("storage/machine/2.json", run_file({sample("a", 1)}));
  EXPECT_THAT(load_run({folder_.path() / "storage"}).process_names,
              ElementsAre("1.json", "2.json"));
  folder_.write("storage/other/1.json", run_file({sample("a", 1)}));
  EXPECT_THAT(refusal({folder_.path() / "storage"}),
              HasSubstr("in each of the folders other, machine"));
}

TEST_F(LoadRun, KeepsOfTheContextWhatAllProcessesSay) {
  for (const char* run_id : {"1", "2"}) {
    folder_.write(
        std::string(run_id) + ".json",
        json{{"context", {{"gpu", "A100"}, {"run_id", run_id}}}, {"benchmarks", {sample("a", 1)}}}
            .dump());
  }
  EXPECT_EQ(load().provenance.context, (Environment{{"gpu", "A100"}}));
}

}  // namespace
}  // namespace fusegate::baselines
