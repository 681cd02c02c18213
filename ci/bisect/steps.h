// The steps of a bisection, kept so that the same command goes on where it was interrupted: a file
// a step, NN.json, beside the folder NN with its runs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "baselines/io/write_lock.h"
#include "ci/bisect/line.h"
#include "ci/bisect/search.h"

namespace fusegate::ci {

struct Step {
  enum class Decision { kMeasured, kIdenticalCode, kSkipped };

  std::size_t commit = 0;  // by its index in the line, as the others
  Decision decision = Decision::kMeasured;
  std::vector<std::size_t> programs{};  // measured side by side, in the line's order
  std::size_t same_as = 0;              // where it runs identical code
  Level level{};                        // where it was measured
  std::string reason{};                 // why it was skipped
};

class Steps {
 public:
  // Locks the folder. fresh: forgets what is there. Throws InputError where another process holds
  // it, and for files that are damaged.
  Steps(std::filesystem::path folder, const std::vector<Commit>& line, bool fresh);

  const std::vector<Step>& all() const { return steps_; }
  const std::filesystem::path& folder() const { return folder_; }
  // Of the step with that index; the next one's is emptied, as an unfinished one lies there.
  std::filesystem::path runs_of(std::size_t step) const;
  std::filesystem::path next_runs();
  // Whole or not there.
  void add(Step step);

  // What is known of each commit by them.
  std::vector<LineCommit> known() const;
  std::size_t measured() const;  // without the first, of the two ends

 private:
  Step read(const std::filesystem::path& file) const;
  std::size_t index_of(const std::string& hash, const std::filesystem::path& file) const;

  std::filesystem::path folder_;
  const std::vector<Commit>& line_;
  baselines::WriteLock lock_;
  std::vector<Step> steps_;
};

// "measured", "identical code", "skipped"
const char* decision_name(Step::Decision decision);

}  // namespace fusegate::ci
