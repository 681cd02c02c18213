// What changed between two programs, which benchmarks that can touch, and what a GPU is needed for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baselines/record/run.h"
#include "ci/codes/program_codes.h"

namespace fusegate::ci {

enum class CodeChange { kChanged, kAdded, kRemoved, kRenamed };
// "changed", "added", "removed", "renamed"
std::string_view code_change_name(CodeChange change);

struct KernelChange {
  CodeChange change = CodeChange::kChanged;
  std::string name{};
  std::string architecture{};
  std::string former_name{};  // of a renamed one
  std::optional<ProgramKernel> before{}, after{};
  std::vector<std::string> benchmarks{};  // of the baseline: those that launch it
};

// What can differ when the two are measured.
enum class GpuWork {
  kNone,      // nothing: neither a kernel changed nor the host's code
  kSome,      // what launches kernels that changed; the host's code is the same
  kIdentify,  // anything: only running them shows what they launch
};
// "none", "some", "identify"
std::string_view gpu_work_name(GpuWork work);

struct CodesDiff {
  std::vector<KernelChange> changes{};
  std::size_t kernels = 0;     // compared: of either side, in architectures that both have
  bool compares_host = false;  // both have code of the host's
  std::vector<std::string> host_changes{};  // sections of it (host_code.h)
  // Of the baseline, where there is one: benchmarks that launch what changed, others that autotune
  // and may choose it now, and those of which it is not known what they launch.
  bool has_baseline = false;
  std::size_t benchmarks = 0;
  std::vector<std::string> touched{}, choosing{}, unknown{};
  std::vector<std::string> notes{};
  bool is_incomplete = false;  // an architecture is in one of them only

  // A name is no code: one that is merely renamed runs as before.
  bool changes_code() const;
  // Where it cannot be compared, anything can differ.
  GpuWork gpu_work() const;
};

CodesDiff diff_codes(const ProgramCodes& base, const ProgramCodes& head);

// Which benchmarks of the run launch what changed. By the code's hash, as the run's device loaded
// it; where that code is not in base, as of another compiler, by the kernel's name.
void add_benchmarks(CodesDiff& diff, const ProgramCodes& base, const baselines::Run& run);

}  // namespace fusegate::ci
