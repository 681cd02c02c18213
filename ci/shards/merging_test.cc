#include "ci/shards/merging.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"
#include "baselines/launches/identities.h"
#include "baselines/record/load_run.h"
#include "ci/gate/gate_json.h"
#include "ci/gate/judging.h"
#include "ci/processes/run_record.h"
#include "ci/selection/selection.h"
#include "tests/fakes/fake_program.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int kProcesses = 5;

std::string benchmark(int i) { return fmt::format("row/{:02}", i); }

// Thirty benchmarks, one of which is a control.
tests::FakeRunFile thirty(int slow) {
  tests::FakeRunFile file{.times = {{"copy", 5000}}, .controls = {{"copy"}}};
  for (int i = 1; i < 30; ++i) {
    file.times[benchmark(i)] = 20000.0 * i * (i == slow ? 1.05 : 1);
  }
  return file;
}

class MergingTest : public ::testing::Test {
 protected:
  fs::path at(const std::string& name) const { return folder_.path() / name; }

  // It has every third benchmark, and the control.
  static ShardRecord shard(int number, int of = 3) {
    ShardRecord record{.plan = "p", .number = number, .of = of, .controls = {"copy"}};
    for (int i = number; i < 30; i += of) record.benchmarks.push_back(benchmark(i));
    return record;
  }

  // The part of a run's files that the shard has, as its processes would have written them.
  // controls_once: they are in the first shard alone, so that all together have the same samples.
  void split(const std::string& run, const ShardRecord& shard, const std::string& to,
             bool controls_once = false) {
    std::set<std::string> names(shard.benchmarks.begin(), shard.benchmarks.end());
    if (!controls_once || shard.number == 1) names.insert("copy");
    for (int process = 1; process <= kProcesses; ++process) {
      const std::string file = fmt::format("{}.json", process);
      auto json = nlohmann::json::parse(baselines::read_file(at(run) / file));
      std::erase_if(json["benchmarks"].get_ref<nlohmann::json::array_t&>(), [&](const auto& entry) {
        return !names.contains(entry["name"].template get<std::string>());
      });
      auto& fusegate = json["context"]["fusegate"];
      fusegate["provenance"]["device_uuid"] = cards_.empty() ? "" : cards_[to];
      folder_.write(to + "/" + file, json.dump());
    }
    RunRecord record = record_of(side_by_side_ ? std::to_string(shard.number) : to);
    record.shard = shard;
    write_run_record(at(to), record);
  }

  static RunRecord record_of(const std::string& session) {
    RunRecord record;
    record.suite = "smoke";
    record.session = session;
    record.planned_processes = kProcesses;
    record.finished = true;
    for (int process = 1; process <= kProcesses; ++process) {
      record.processes.emplace_back();
      record.processes.back().file = fmt::format("{}.json", process);
      record.processes.back().block = process;
    }
    return record;
  }

  static void remove_benchmark(const std::string& name, const fs::path& file) {
    auto json = nlohmann::json::parse(baselines::read_file(file));
    std::erase_if(json["benchmarks"].get_ref<nlohmann::json::array_t&>(),
                  [&](const auto& entry) { return entry["name"] == name; });
    baselines::write_atomically(file, json.dump());
  }

  // s1, s2, s3
  std::vector<fs::path> three(const std::string& run, bool controls_once = false) {
    std::vector<fs::path> shards;
    for (int number = 1; number <= 3; ++number) {
      const std::string to = fmt::format("{}-s{}", run, number);
      split(run, shard(number), to, controls_once);
      shards.push_back(at(to));
    }
    return shards;
  }

  nlohmann::json gate_of(const fs::path& baseline, const fs::path& candidate) {
    JudgingRequest request;
    request.baseline = {baseline};
    request.candidate = {candidate};
    return gate_json(judged(request));
  }

  // Base and head, whole and as merged shards.
  void expect_the_same_gate() {
    write_run(folder_, "base", thirty(0), kProcesses);
    write_run(folder_, "head", thirty(7), kProcesses);
    for (const std::string side : {"base", "head"}) {
      if (side_by_side_) write_run_record(at(side), record_of("session"));
      merge_shards(three(side, true), at("merged-" + side));
    }
    nlohmann::json whole = gate_of(at("base"), at("head"));
    nlohmann::json merged = gate_of(at("merged-base"), at("merged-head"));
    EXPECT_EQ(whole["exit_code"], 1);
    EXPECT_THAT(whole["verdicts"], SizeIs(30));
    for (const char* path : {"baseline", "candidate"}) {
      EXPECT_EQ(whole.erase(path) + merged.erase(path), 2u);
    }
    EXPECT_EQ(merged.dump(1), whole.dump(1));
  }

  std::string problem(const std::vector<fs::path>& shards) try {
    merge_shards(shards, at("merged"));
    return "none";
  } catch (const baselines::InputError& error) {
    EXPECT_FALSE(fs::exists(at("merged"))) << "nothing was written";
    return error.what();
  }

  baselines::ScratchFolder folder_;
  std::map<std::string, std::string> cards_;
  bool side_by_side_ = false;  // a shard's base and head are of one session
};

TEST_F(MergingTest, TheGateIsThatOfTheWholeRunToTheLastBit) { expect_the_same_gate(); }

TEST_F(MergingTest, TheGateIsThatOfAWholeDuetToTheLastBit) {
  side_by_side_ = true;
  expect_the_same_gate();
}

TEST_F(MergingTest, AControlHasTheProcessesOfAllShardsAndEachItsCard) {
  cards_ = {{"run-s1", "GPU-1"}, {"run-s2", "GPU-2"}, {"run-s3", "GPU-1"}};
  write_run(folder_, "run", thirty(0), kProcesses);
  // In any order.
  auto shards = three("run");
  std::ranges::reverse(shards);
  const std::vector<MergedRun> merged = merge_shards(shards, at("merged"));
  ASSERT_THAT(merged, SizeIs(1));
  EXPECT_EQ(merged[0].shards, 3u);
  EXPECT_EQ(merged[0].processes, 15u);
  EXPECT_EQ(merged[0].benchmarks, 30u);
  EXPECT_EQ(merged[0].cards, 2u);
  const baselines::Run run = baselines::load_run({at("merged")});
  EXPECT_TRUE(run.left_out.empty()) << baselines::left_out_text(run);
  EXPECT_EQ(run.cards, (std::vector<std::string>{"GPU-1", "GPU-2"}));
  EXPECT_THAT(find_series(run, "copy")->processes, SizeIs(15));
  const auto& of_second = find_series(run, benchmark(2))->processes;
  EXPECT_THAT(of_second, SizeIs(5));
  for (const auto& summary : of_second) EXPECT_EQ(run.cards.at(summary.card), "GPU-2");
  EXPECT_TRUE(run.cut_short.empty());
}

TEST_F(MergingTest, OneProgramOfADuetMayLackABenchmarkAndNotAll) {
  write_run(folder_, "run", thirty(0), kProcesses);
  side_by_side_ = true;
  const auto without = [&](const std::string& side) {
    for (int process = 1; process <= kProcesses; ++process) {
      remove_benchmark("row/02", at("d2") / side / fmt::format("{}.json", process));
    }
  };
  std::vector<fs::path> shards;
  for (int number = 1; number <= 3; ++number) {
    shards.push_back(at(fmt::format("d{}", number)));
    for (const char* side : {"base", "head"}) {
      split("run", shard(number), fmt::format("d{}/{}", number, side));
    }
  }
  without("base");
  EXPECT_EQ(problem(shards), "none");
  fs::remove_all(at("merged"));
  without("head");
  EXPECT_THAT(problem(shards), AllOf(HasSubstr("shard 2 ("), HasSubstr("not measured: row/02")));
}

TEST_F(MergingTest, NamesWhatSomeProcessesOfAShardLack) {
  write_run(folder_, "run", thirty(0), kProcesses);
  const auto shards = three("run");
  remove_benchmark("row/02", shards[1] / "3.json");
  merge_shards(shards, at("merged"));
  EXPECT_EQ(baselines::load_run({at("merged")}).left_out,
            (std::map<std::string, std::string>{{"row/02", "4 of 5 processes have it"}}));
}

TEST_F(MergingTest, BlocksStayApartAndSessionsAreShared) {
  write_run(folder_, "run", thirty(0), kProcesses);
  for (const std::string side : {"base", "head"}) {
    for (int number = 1; number <= 3; ++number) {
      split("run", shard(number), fmt::format("d{}/{}", number, side));
      RunRecord record = read_run_record(at(fmt::format("d{}/{}", number, side)));
      record.session = fmt::format("session {}", number);
      write_run_record(at(fmt::format("d{}/{}", number, side)), record);
    }
  }
  const auto merged = merge_shards({at("d1"), at("d2"), at("d3")}, at("merged"));
  ASSERT_THAT(merged, SizeIs(2));
  const RunRecord base = read_run_record(at("merged/base"));
  EXPECT_FALSE(base.session.empty());
  EXPECT_EQ(base.session, read_run_record(at("merged/head")).session);
  std::set<int> blocks;
  for (const ProcessRecord& process : base.processes) blocks.insert(process.block);
  EXPECT_THAT(blocks, SizeIs(15));
  EXPECT_EQ(base.processes[5].shard, 2);
}

TEST_F(MergingTest, RefusesHolesAndOverlapsByName) {
  write_run(folder_, "run", thirty(0), kProcesses);
  auto shards = three("run");
  EXPECT_THAT(problem({shards[0], shards[2]}), HasSubstr("shard 2 of 3 is missing"));
  EXPECT_THAT(problem({shards[0], shards[1], shards[1]}),
              AllOf(HasSubstr("shard 2 is given twice"), HasSubstr("run-s2")));
  EXPECT_THAT(problem({shards[0], shards[1], at("run-s7")}), HasSubstr("no such folder"));

  ShardRecord wider = shard(3);
  wider.benchmarks.push_back(benchmark(1));
  split("run", wider, "wider");
  EXPECT_THAT(problem({shards[0], shards[1], at("wider")}), HasSubstr("row/01 is in shard 1 too"));
  RunRecord record = read_run_record(at("wider"));
  record.shard = shard(3);
  write_run_record(at("wider"), record);
  EXPECT_THAT(problem({shards[0], shards[1], at("wider")}),
              AllOf(HasSubstr("shard 3 ("), HasSubstr("has row/01, which shard 1 has too")));
  ShardRecord more = shard(2);
  more.benchmarks.emplace_back("new");
  split("run", more, "more");
  EXPECT_THAT(
      problem({shards[0], at("more"), shards[2]}),
      AllOf(HasSubstr("shard 2 ("), HasSubstr("1 benchmark planned and not measured: new")));
}

TEST_F(MergingTest, RefusesShardsThatDoNotBelongTogether) {
  write_run(folder_, "run", thirty(0), kProcesses);
  const auto shards = three("run");
  EXPECT_THAT(problem({at("run")}), HasSubstr("has no run.json, nor have base and head in it"));
  const RunRecord second = read_run_record(shards[1]);
  const auto with = [&](auto change) {
    RunRecord record = second;
    change(record);
    write_run_record(shards[1], record);
    return problem(shards);
  };
  EXPECT_THAT(with([](RunRecord& record) { record.shard->plan = "q"; }),
              HasSubstr("run-s2: is shard 2 of 3 of another plan than "));
  EXPECT_THAT(with([](RunRecord& record) { record.finished = false; }),
              HasSubstr("run-s2: shard 2 did not finish"));
  EXPECT_THAT(with([](RunRecord& record) { record.shard.reset(); }),
              HasSubstr("run.json: shard: is missing"));
  write_run_record(shards[1], second);
  const auto with_context = [&](const char* key, const char* member, const char* value) {
    for (int process = 1; process <= kProcesses; ++process) {
      const fs::path file = shards[1] / fmt::format("{}.json", process);
      auto json = nlohmann::json::parse(baselines::read_file(file));
      json["context"]["fusegate"][key][member] = value;
      baselines::write_atomically(file, json.dump());
    }
    return problem(shards);
  };
  EXPECT_THAT(with_context("environment", "driver", "1.2"),
              AllOf(HasSubstr("shard 2 ("), HasSubstr("environment.driver: is \"1.2\"")));
  EXPECT_THAT(with_context("provenance", "commit", "f00"),
              AllOf(HasSubstr("commit: is \"f00\""), HasSubstr("merge shards of one commit")));
}

TEST_F(MergingTest, JoinsIdentities) {
  tests::FakeRunFile file = thirty(0);
  for (const auto& [name, time_ns] : file.times) file.codes[name] = "0f";
  write_run(folder_, "run", thirty(0), kProcesses);
  const auto shards = three("run");
  const auto all = baselines::parse_identities(tests::identities_text(file), "all");
  for (int number = 1; number <= 3; ++number) {
    baselines::Identities own = all;
    const ShardRecord record = shard(number);
    std::erase_if(own.benchmarks, [&](const auto& entry) {
      return entry.first != "copy" &&
             std::ranges::find(record.benchmarks, entry.first) == record.benchmarks.end();
    });
    if (number == 2) own.benchmarks.at("copy").order = "other";
    baselines::write_identities(
        shards[static_cast<std::size_t>(number - 1)] / baselines::kIdentitiesFile, own);
  }
  merge_shards(shards, at("merged"));
  const auto merged = baselines::read_identities(at("merged") / baselines::kIdentitiesFile);
  EXPECT_THAT(merged.benchmarks, SizeIs(30));
  EXPECT_TRUE(
      baselines::identical_code(merged.benchmarks.at("row/02"), all.benchmarks.at("row/02")));
  EXPECT_FALSE(merged.benchmarks.at("copy").unknown.empty());
}

}  // namespace
}  // namespace fusegate::ci
