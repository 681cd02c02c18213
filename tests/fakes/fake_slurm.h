// For tests: sbatch, squeue and sacct in the front of PATH, while the object lives. They print what
// a test wants, and note how they were called.
#pragma once

#include <string>
#include <vector>

#include "baselines/io/scratch_folder.h"

namespace fusegate::tests {

class FakeSlurm {
 public:
  explicit FakeSlurm(const baselines::ScratchFolder& folder);
  ~FakeSlurm();
  FakeSlurm(const FakeSlurm&) = delete;  // PATH is the process's: there is one

  // What a command prints, with exit code 0; sbatch prints 1, 2, ... by default.
  void prints(const std::string& command, const std::string& text) const;
  // How it fails: its error, with exit code 1.
  void fails(const std::string& command, const std::string& error) const;
  void is_not_installed(const std::string& command) const;
  // The arguments of its calls, a line each.
  std::vector<std::string> calls(const std::string& command) const;

 private:
  std::string path_of(const std::string& command) const { return bin_ + "/" + command; }

  const baselines::ScratchFolder& folder_;
  const std::string bin_;
  const std::string path_;  // of before
};

}  // namespace fusegate::tests
