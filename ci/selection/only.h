// A part of a suite, as a user names it or `fusegate codes-diff` found it. Programs are then asked
// what that part launches, and a few more benchmarks to choose controls from: a question that takes
// a part of the time.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baselines/record/run.h"
#include "ci/selection/selection.h"

namespace fusegate::ci {

struct OnlyBenchmarks {
  std::vector<std::string> patterns{};          // baselines/io/pattern.h
  std::optional<std::filesystem::path> file{};  // of codes-diff --json

  bool names_any() const { return !patterns.empty() || file; }
};

class Only {
 public:
  // Reads the file. Throws InputError naming it and the field: also where it was made without
  // --baseline, and so names no benchmarks.
  explicit Only(const OnlyBenchmarks& only);

  bool takes(const std::string& benchmark) const;
  // Why others are left out.
  const std::string& reason() const { return reason_; }

  // Which of these are asked: those it takes, and twice as many controls as are measured. All that
  // it takes must be among them.
  std::vector<std::string> asked(const baselines::Run& suite, ControlUse use) const;

 private:
  OnlyBenchmarks only_;
  std::vector<std::string> names_{};  // of the file
  std::string reason_;
};

}  // namespace fusegate::ci
