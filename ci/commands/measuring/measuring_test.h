// For tests of commands that measure: programs, and what the two sides of a duet or replay left.
#pragma once

#include "ci/commands/measuring/commands.h"
#include "ci/commands/reading/command_test.h"
#include "ci/processes/run_record.h"
#include "tests/fakes/fake_bench.h"

namespace fusegate::ci {

inline FakeRunFile thirty_identified() {
  FakeRunFile file{.times = {}};
  for (int i = 1; i <= 30; ++i) {
    file.times[fmt::format("a{:02}", i)] = 20000;
    file.codes[fmt::format("a{:02}", i)] = "0f";
  }
  return file;
}

// A piece of shell: in its second process the program is interrupted while it measures.
inline constexpr const char* kInterruptedInTheSecond =
    "[ $process = 2 ] && { (sleep 0.3; kill -INT $PPID) & exec sleep 60; }\n";

// Of duet_command and replay_command.
template <typename Request, ExitCode (*kCommand)(const Request&, Console&)>
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
  nlohmann::json json() { return json_in(*duet().files.json); }
  std::string markdown() { return read_file(*duet().files.markdown); }
  RunRecord record(const std::string& program) { return read_run_record(duet().out / program); }

  using Base::folder_;
  using Base::request_;
};

}  // namespace fusegate::ci
