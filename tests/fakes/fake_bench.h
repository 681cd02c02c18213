// For tests: a stand-in for the benchmark program that follows --benchmark_filter, with times that
// depend on the process's number.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "baselines/io/scratch_folder.h"
#include "tests/fakes/fake_program.h"

namespace fusegate::tests {

struct FakeBench {
  FakeRunFile file{};
  // Relative, from process to process; a benchmark that is not named has 0.02 %.
  std::map<std::string, double> noise{};
  int phase = 0;  // programs of different phases do not go up and down together
  // The file of that process and of later ones.
  int change_at = 6;
  std::optional<FakeRunFile> later{};
  std::string more{};    // a piece of shell for the script's end
  std::string before{};  // and for its start, behind the answer to --help
};

// An executable script, whose card is $CUDA_VISIBLE_DEVICES; returns its path. Each call adds "NAME
// PROCESS FILTER" to calls in the folder, FILTER being "." where none was given.
std::string write_bench(const baselines::ScratchFolder& folder, const std::string& name,
                        const FakeBench& bench);

}  // namespace fusegate::tests
