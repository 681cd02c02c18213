// For tests of commands: a request, and what the command prints and says of it. Those that measure
// two programs side by side take scripts for them (fake_bench.h).
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"
#include "ci/commands/commands.h"
#include "ci/run/run_record.h"
#include "tests/fakes/fake_bench.h"

namespace fusegate::ci {

using tests::FakeBench;
using tests::FakeRunFile;
using tests::write_bench;

template <typename Request, baselines::ExitCode (*kCommand)(const Request&, Console&)>
class CommandTest : public ::testing::Test {
 protected:
  baselines::ExitCode run() {
    Console console{out_, err_};
    return kCommand(request_, console);
  }
  // What the command throws as bad input.
  std::string problem() {
    try {
      run();
    } catch (const baselines::InputError& error) {
      return error.what();
    }
    return "none";
  }

  baselines::ScratchFolder folder_;
  Request request_;
  std::ostringstream out_;
  std::ostringstream err_;
};

inline constexpr const char* kFused = "geglu/fused/bf16/batch:64/seq:128/dim:768/hidden:3072";
inline constexpr const char* kLinear = "linear/addmm/bf16/batch:64/seq:128/dim:768/hidden:3072";

// Of duet_command and replay_command.
template <typename Request, baselines::ExitCode (*kCommand)(const Request&, Console&)>
class SideBySideTest : public CommandTest<Request, kCommand> {
 protected:
  using Base = CommandTest<Request, kCommand>;

  SideBySideTest() {
    duet().measuring.suite = "smoke";
    duet().out = folder_.path() / "runs";
    duet().aa_history = folder_.path() / "aa.jsonl";
    duet().files = {.json = folder_.path() / "gate.json", .markdown = folder_.path() / "gate.md"};
    duet().head = head({.phase = 1});
  }

  DuetRequest& duet() {
    if constexpr (requires { request_.duet; }) {
      return request_.duet;
    } else {
      return request_;
    }
  }
  std::string head(const FakeBench& bench) { return write_bench(folder_, "head-bench", bench); }
  static FakeRunFile slowed() {
    FakeRunFile file;
    file.times[kFused] *= 1.2;
    return file;
  }
  // Thirty benchmarks, of which the program says what they launch.
  static FakeRunFile thirty_identified() {
    FakeRunFile file{.times = {}};
    for (int i = 1; i <= 30; ++i) {
      file.times[fmt::format("a{:02}", i)] = 20000;
      file.codes[fmt::format("a{:02}", i)] = "0f";
    }
    return file;
  }
  nlohmann::json json() const {
    return nlohmann::json::parse(baselines::read_file(folder_.path() / "gate.json"));
  }

  using Base::folder_;
  using Base::request_;
};

}  // namespace fusegate::ci
