#include "ci/codes/codes_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "baselines/launches/choice.h"

namespace fusegate::ci {
namespace {

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

void compare_host(const ProgramCodes& base, const ProgramCodes& head, CodesDiff& diff) {
  diff.compares_host = !base.host.empty() && !head.host.empty();
  if (!diff.compares_host) {
    diff.notes.push_back(
        "the host's code is not compared: for that, name programs or shared libraries on both "
        "sides");
    return;
  }
  std::map<std::string, std::string> all = base.host;
  all.insert(head.host.begin(), head.host.end());
  for (const auto& [section, hash] : all) {
    const auto before = base.host.find(section), after = head.host.find(section);
    if (before == base.host.end() || after == head.host.end() || before->second != after->second) {
      diff.host_changes.push_back(section);
    }
  }
}

// An added and a removed one of the same code become one that is renamed.
void pair_renamed(std::vector<KernelChange>& changes) {
  std::map<std::pair<std::string, std::string>, std::vector<KernelChange*>> removed;
  for (KernelChange& change : changes) {
    if (change.change != CodeChange::kRemoved) continue;
    removed[{change.architecture, change.before->code.hash}].push_back(&change);
  }
  for (KernelChange& change : changes) {
    if (change.change != CodeChange::kAdded) continue;
    const auto former = removed.find({change.architecture, change.after->code.hash});
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
    const bool same_code = launch.code == change.before->code.hash;
    if (launch.kernel == change.name) return same_code || !hashes_.contains(launch.code);
    return same_code && !names_.contains(launch.kernel);
  }

  bool knows(const baselines::LaunchIdentity& launch) const {
    return launch.code.empty() || hashes_.contains(launch.code) || names_.contains(launch.kernel);
  }

 private:
  std::set<std::string> hashes_{}, names_{};
};

bool autotunes(const baselines::BenchmarkSeries& benchmark) {
  return std::ranges::any_of(
      benchmark.choices, [](const auto& choice) { return baselines::is_autotuned(choice.second); });
}

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

std::string_view gpu_work_name(GpuWork work) {
  switch (work) {
    case GpuWork::kNone:
      return "none";
    case GpuWork::kSome:
      return "some";
    case GpuWork::kIdentify:
      return "identify";
  }
  return "";
}

bool CodesDiff::changes_code() const {
  return std::ranges::any_of(
      changes, [](const KernelChange& one) { return one.change != CodeChange::kRenamed; });
}

GpuWork CodesDiff::gpu_work() const {
  if (is_incomplete || !host_changes.empty()) return GpuWork::kIdentify;
  if (!changes_code()) return GpuWork::kNone;
  // Who launches an added one, or did a removed one, only a run shows.
  const bool only_changed = std::ranges::all_of(changes, [](const KernelChange& one) {
    return one.change == CodeChange::kChanged || one.change == CodeChange::kRenamed;
  });
  return only_changed ? GpuWork::kSome : GpuWork::kIdentify;
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
          {CodeChange::kRemoved, key.first, key.second, "", *kernel, std::nullopt});
    } else if (now->second->code.hash != kernel->code.hash) {
      diff.changes.push_back(
          {CodeChange::kChanged, key.first, key.second, "", *kernel, *now->second});
    }
  }
  diff.kernels = before.size();
  for (const auto& [key, kernel] : after) {
    if (before.contains(key)) continue;
    ++diff.kernels;
    diff.changes.push_back({CodeChange::kAdded, key.first, key.second, "", std::nullopt, *kernel});
  }
  pair_renamed(diff.changes);
  compare_host(base, head, diff);
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
    if (touched) {
      diff.touched.push_back(benchmark.name);
    } else if (diff.changes_code() && autotunes(benchmark)) {
      diff.choosing.push_back(benchmark.name);
    }
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
