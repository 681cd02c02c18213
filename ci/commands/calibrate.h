// `fusegate calibrate`: what this machine, suite and protocol can tell, from processes of unchanged
// code; and the protocol experiment, which compares ways of measuring.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ci/console/console.h"

namespace fusegate::ci {

struct CalibrateRequest {
  // What is calibrated: runs that were measured already, or else new ones.
  std::vector<std::filesystem::path> runs;
  std::string suite;
  std::optional<int> invocations;            // 10, or 8 a variant
  std::string program;                       // empty: the benchmark program beside this one
  std::optional<std::filesystem::path> out;  // a folder of its own where there is none
  double timeout_s = 1800;                   // of one invocation
  std::optional<double> budget_s;            // no invocation or round is started after that long
  std::optional<std::uint64_t> seed;         // of draws, and of what is measured
  std::vector<std::string> flags;            // passed on to the benchmark program

  // Of a calibration.
  int comparisons = 1000;
  int side = 5;
  std::filesystem::path store;

  // Of an experiment instead.
  std::vector<std::string> variants;  // "NAME: FLAGS"
  std::optional<std::filesystem::path> variants_file;
  std::optional<std::filesystem::path> from;  // an earlier experiment's folder

  std::optional<std::filesystem::path> markdown;
};

// 0 where all was measured, printed and stored, whatever it says; 2 where a process failed or
// somebody interrupted. Throws InputError.
baselines::ExitCode calibrate_command(const CalibrateRequest& request, Console& console);

}  // namespace fusegate::ci
