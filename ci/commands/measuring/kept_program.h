// The benchmark program of a baseline that a job recorded on this machine, kept so that later jobs
// replay it.
#pragma once

#include <filesystem>

#include "baselines/record/run.h"

namespace fusegate::ci {

class KeptPrograms {
 public:
  // folder: .fusegate, which gets programs/local.
  explicit KeptPrograms(const std::filesystem::path& folder)
      : all_(folder / "programs" / "local") {}

  bool any() const { return std::filesystem::exists(all_); }
  // Where the program of that run is kept, whether or not it is there. The commit alone does not
  // name it: it may have had uncommitted changes.
  std::filesystem::path path_of(const baselines::Provenance& from) const;
  // Copies the program with its suites; suite: a name, or a file that is copied too. Does nothing
  // for a command, of which no one file could be kept. Throws InputError where it cannot.
  void keep(const std::filesystem::path& program, const std::filesystem::path& suite,
            const baselines::Provenance& from) const;

 private:
  std::filesystem::path all_;
};

}  // namespace fusegate::ci
