#include "ci/processes/placement.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

std::string line_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// nvidia-smi's domain has eight digits, the system's four: "00000000:4E:00.0", "0000:4e:00.0".
std::string system_bus_id(std::string id) {
  std::ranges::transform(id, id.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto domain = id.find(':');
  return domain > 4 && domain != id.npos ? id.substr(domain - 4) : id;
}

using Cores = std::vector<std::vector<int>>;  // the hardware threads of each

Cores cores_of(const std::set<int>& cpus, const fs::path& sys) {
  std::map<int, std::vector<int>> by_first;  // by the first hardware thread of the core
  for (const int cpu : cpus) {
    const auto threads = parse_cpu_list(line_of(
        sys / "devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology/core_cpus_list"));
    by_first[threads.empty() ? cpu : *threads.begin()].push_back(cpu);
  }
  Cores cores;
  for (auto& [first, threads] : by_first) cores.push_back(std::move(threads));
  return cores;
}

}  // namespace

std::set<int> parse_cpu_list(const std::string& text) {
  constexpr int kMost = CPU_SETSIZE;
  std::set<int> cpus;
  std::istringstream ranges(text);
  for (std::string range; std::getline(ranges, range, ',');) {
    int first = 0;
    const char* const end = range.data() + range.size();
    const auto [at, error] = std::from_chars(range.data(), end, first);
    if (error != std::errc()) continue;
    int last = first;
    if (at != end && *at == '-') std::from_chars(at + 1, end, last);
    for (int cpu = std::max(first, 0); cpu <= std::min(last, kMost - 1); ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

std::vector<std::set<int>> cpus_near(const std::vector<Card>& cards, const std::set<int>& allowed,
                                     const fs::path& sys) {
  std::map<std::set<int>, std::vector<std::size_t>> neighbours;  // cards, by what is near them
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const std::set<int> local = parse_cpu_list(
        line_of(sys / "bus/pci/devices" / system_bus_id(cards[i].bus_id) / "local_cpulist"));
    std::set<int> near;
    std::ranges::set_intersection(local, allowed, std::inserter(near, near.end()));
    neighbours[near].push_back(i);
  }
  std::vector<std::set<int>> cpus(cards.size());
  for (const auto& [near, there] : neighbours) {
    const Cores cores = cores_of(near, sys);
    const std::size_t each = cores.size() / there.size();
    for (std::size_t i = 0; i < there.size() * each; ++i) {
      cpus[there[i / each]].insert(cores[i].begin(), cores[i].end());
    }
  }
  return cpus;
}

std::set<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::set<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.insert(cpu);
  }
  return cpus;
}

void pin_this_thread(const std::set<int>& cpus) {
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);  // where it may not, it measures all the same
}

}  // namespace fusegate::ci
