#include "ci/codes/codes_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace fusegate::ci {
namespace {

using baselines::KernelCode;
using Kernels = std::map<std::pair<std::string, std::string>, const ProgramKernel*>;

Kernels by_name(const ProgramCodes& codes) {
  Kernels kernels;
  for (const ProgramKernel& kernel : codes.kernels) {
    kernels[{kernel.name, kernel.architecture}] = &kernel;
  }
  return kernels;
}

std::set<std::string> architectures_of(const ProgramCodes& codes) {
  std::set<std::string> names;
  for (const ProgramKernel& kernel : codes.kernels) names.insert(kernel.architecture);
  return names;
}

// Takes kernels of architectures that the other side lacks out, and says so.
void keep_common(Kernels& kernels, const std::set<std::string>& other, std::string_view side,
                 CodesDiff& diff) {
  std::map<std::string, std::size_t> lone;
  std::erase_if(kernels, [&](const auto& kernel) {
    if (other.contains(kernel.first.second)) return false;
    ++lone[kernel.first.second];
    return true;
  });
  for (const auto& [architecture, count] : lone) {
    diff.notes.push_back(
        fmt::format("{}: only {} has it ({} kernels); build both for the same "
                    "architectures",
                    architecture, side, count));
    diff.is_incomplete = true;
  }
}

// An added and a removed one of the same code become one that is renamed.
void pair_renamed(std::vector<KernelChange>& changes) {
  std::map<std::pair<std::string, std::string>, std::vector<KernelChange*>> removed;
  for (KernelChange& change : changes) {
    if (change.change != CodeChange::kRemoved) continue;
    removed[{change.architecture, change.before->hash}].push_back(&change);
  }
  for (KernelChange& change : changes) {
    if (change.change != CodeChange::kAdded) continue;
    const auto former = removed.find({change.architecture, change.after->hash});
    if (former == removed.end() || former->second.empty()) continue;
    KernelChange& other = *former->second.back();
    former->second.pop_back();
    change.change = CodeChange::kRenamed;
    change.former_name = std::exchange(other.name, "");
    change.before = other.before;
  }
  std::erase_if(changes, [](const KernelChange& change) { return change.name.empty(); });
}

// What decides whether a launch of the baseline can be of a kernel that changed.
class Launches {
 public:
  explicit Launches(const ProgramCodes& base) {
    for (const ProgramKernel& kernel : base.kernels) {
      hashes_.insert(kernel.code.hash);
      names_.insert(kernel.name);
    }
  }

  bool is_of(const baselines::LaunchIdentity& launch, const KernelChange& change) const {
    if (launch.code.empty() || !change.before) return false;  // a memory operation; a new kernel
    const bool same_code = launch.code == change.before->hash;
    if (launch.kernel == change.name) return same_code || !hashes_.contains(launch.code);
    return same_code && !names_.contains(launch.kernel);
  }

  bool knows(const baselines::LaunchIdentity& launch) const {
    return launch.code.empty() || hashes_.contains(launch.code) || names_.contains(launch.kernel);
  }

 private:
  std::set<std::string> hashes_{}, names_{};
};

}  // namespace

std::string_view code_change_name(CodeChange change) {
  switch (change) {
    case CodeChange::kChanged:
      return "changed";
    case CodeChange::kAdded:
      return "added";
    case CodeChange::kRemoved:
      return "removed";
    case CodeChange::kRenamed:
      return "renamed";
  }
  return "";
}

bool CodesDiff::changes_code() const {
  return std::ranges::any_of(
      changes, [](const KernelChange& one) { return one.change != CodeChange::kRenamed; });
}

CodesDiff diff_codes(const ProgramCodes& base, const ProgramCodes& head) {
  CodesDiff diff;
  Kernels before = by_name(base), after = by_name(head);
  keep_common(before, architectures_of(head), "the base", diff);
  keep_common(after, architectures_of(base), "the head", diff);
  for (const auto& [key, kernel] : before) {
    const auto now = after.find(key);
    if (now == after.end()) {
      diff.changes.push_back(
          {CodeChange::kRemoved, key.first, key.second, "", kernel->code, std::nullopt});
    } else if (now->second->code.hash != kernel->code.hash) {
      diff.changes.push_back(
          {CodeChange::kChanged, key.first, key.second, "", kernel->code, now->second->code});
    }
  }
  diff.kernels = before.size();
  for (const auto& [key, kernel] : after) {
    if (before.contains(key)) continue;
    ++diff.kernels;
    diff.changes.push_back(
        {CodeChange::kAdded, key.first, key.second, "", std::nullopt, kernel->code});
  }
  pair_renamed(diff.changes);
  std::set<std::string> notes(base.notes.begin(), base.notes.end());
  notes.insert(head.notes.begin(), head.notes.end());
  diff.notes.insert(diff.notes.end(), notes.begin(), notes.end());
  return diff;
}

void add_benchmarks(CodesDiff& diff, const ProgramCodes& base, const baselines::Run& run) {
  const Launches launches(base);
  std::set<std::string> elsewhere;
  diff.has_baseline = true;
  diff.benchmarks = run.benchmarks.size();
  for (const baselines::BenchmarkSeries& benchmark : run.benchmarks) {
    if (!benchmark.identity || !benchmark.identity->unknown.empty()) {
      diff.unknown.push_back(benchmark.name);
      continue;
    }
    std::vector<baselines::LaunchIdentity> launched = benchmark.identity->launches;
    for (auto& launch : launched) launch.kernel = readable_kernel(launch.kernel);
    bool touched = false;
    for (KernelChange& change : diff.changes) {
      const bool here = std::ranges::any_of(
          launched, [&](const auto& launch) { return launches.is_of(launch, change); });
      if (here) change.benchmarks.push_back(benchmark.name);
      touched = touched || (here && change.change != CodeChange::kRenamed);
    }
    if (touched) diff.touched.push_back(benchmark.name);
    for (const auto& launch : launched) {
      if (!launches.knows(launch)) elsewhere.insert(launch.kernel);
    }
  }
  if (!elsewhere.empty()) {
    diff.notes.push_back(fmt::format(
        "{} kernels that the baseline launches are of libraries or are compiled at run time, such "
        "as {}: what is in them is not compared",
        elsewhere.size(), *elsewhere.begin()));
  }
}

}  // namespace fusegate::ci
