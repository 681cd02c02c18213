// For tests: shell scripts that stand in for the benchmark program, and the run files they leave.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/io/scratch_folder.h"

namespace fusegate::tests {

// An executable shell script; returns its path.
std::string write_script(const baselines::ScratchFolder& folder, std::string_view name,
                         std::string_view body);

// The script's start: sets $out, $process, $seed and $suite from the flags that `fusegate run`
// gives. Like a program that is older than it, the script refuses --identify, unless $identities is
// set to a file that it then gives.
extern const std::string_view kReadFlags;

// The script's start where it is to wait for its turn: defines `await_turn WORD`, which sends that
// word (baselines::kTurnVariable), waits for the turn, and does nothing where there is none.
extern const std::string_view kAwaitTurn;

// What a fake run file says. Times are in ns, one a process and benchmark.
struct FakeRunFile {
  std::map<std::string, double> times{
      {"geglu/fused/bf16/batch:64/seq:128/dim:768/hidden:3072", 20000},
      {"linear/addmm/bf16/batch:64/seq:128/dim:768/hidden:3072", 60000}};
  std::map<std::string, std::string> failures{};  // benchmarks without a time
  std::string suite = "smoke";
  std::string driver = "580.159.04";
  nlohmann::json protocol = nlohmann::json::object();
  std::optional<std::vector<std::string>> controls{};  // none: as before files listed them
  nlohmann::json settings{};                           // of the suite, by pattern
  bool dirty = false;
  std::vector<std::string> warnings{};  // by their names
  bool finished = true;
  std::string date = "2026-11-21T02:53:32+00:00";
  std::map<std::string, nlohmann::json> profiles{};  // details.profile, by benchmark
  // The machine code that each benchmark launches; empty: unknown. No entry: not reported.
  std::map<std::string, std::string> codes{};
  std::map<std::string, double> host_ns{};  // of a call on a stream, by benchmark
  std::string host = "fake";                // the machine's name
  std::string card{};                       // its UUID; empty: unknown
  // By benchmark and stage, what was picked.
  std::map<std::string, std::map<std::string, std::string>> choices{};
  int process = 1;
  double load_s = 0;  // by identities_text()
};

// What the program that leaves this file answers to --identify.
std::string identities_text(const FakeRunFile& file);

// As text: a valid run file of this program, ten samples a benchmark.
std::string run_file_text(const FakeRunFile& file);

// A run folder with that many processes whose times differ by about 0.02 %, and host
// times by 2 %. Returns its path.
std::string write_run(const baselines::ScratchFolder& folder, std::string_view name,
                      const FakeRunFile& file, int processes = 5);

}  // namespace fusegate::tests
