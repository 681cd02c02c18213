// For tests: a sweep of three shards on a fake Slurm.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "ci/processes/run_record.h"
#include "ci/slurm/submitting.h"
#include "tests/fakes/fake_program.h"
#include "tests/fakes/fake_slurm.h"

namespace fusegate::ci {

class SlurmTest : public ::testing::Test {
 protected:
  SlurmTest() {
    request_.plan = folder_.write("plan.json", plan_text(plan()));
    request_.folder = folder_.path() / "sweep";
    request_.command = {"run", "--processes", "2"};
    request_.fusegate = "/opt/fusegate";
  }

  static ShardPlan plan() {
    return {.suite = "smoke",
            .controls = {"copy"},
            .shards = {{.benchmarks = {"a"}}, {.benchmarks = {"b"}}, {.benchmarks = {"c"}}}};
  }
  void submit() {
    Console console{out_, err_};
    submit_shards(request_, console);
  }
  template <typename Call>
  static std::string problem_of(const Call& call) {
    try {
      call();
    } catch (const baselines::InputError& error) {
      return error.what();
    }
    return "none";
  }
  // As a task leaves the shard: of two processes, so many whole ones, and one that was cut off.
  void measure(int shard, int processes, bool cut_off = false) const {
    const ShardPlan whole = plan();
    const std::string folder = fmt::format("sweep/shard-{}", shard);
    RunRecord record;
    record.suite = "smoke";
    record.planned_processes = 2;
    record.shard = shard_of(whole, shard);
    tests::FakeRunFile file;
    file.times = {{"copy", 1000}, {record.shard->benchmarks.front(), 2000}};
    for (int number = 1; number <= processes + (cut_off ? 1 : 0); ++number) {
      ProcessRecord process;
      process.file = fmt::format("{}.json", number);
      process.block = number;
      file.process = number;
      file.finished = number <= processes;
      if (!file.finished) process.failure = "ended by signal 9 (Killed)";
      folder_.write(fmt::format("{}/{}", folder, process.file), tests::run_file_text(file));
      record.processes.push_back(process);
    }
    record.session = folder;
    record.started = record.ended = "2026-11-21T02:53:32+00:00";
    record.finished = processes + (cut_off ? 1 : 0) == 2;
    write_run_record(folder_.path() / folder, record);
  }
  static std::string queue_line(const std::string& task, const std::string& state,
                                const std::string& node = "", int status = 0,
                                const std::string& reason = "None") {
    const std::size_t cut = task.find('_');
    return fmt::format("{}|{}|{}|{}|{}|{}|\n", task.substr(0, cut), task.substr(cut + 1), state,
                       node, status, reason);
  }

  baselines::ScratchFolder folder_;
  tests::FakeSlurm slurm_{folder_};
  SubmitRequest request_;
  std::ostringstream out_, err_;
};

}  // namespace fusegate::ci
