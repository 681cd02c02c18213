#include "ci/console/layout.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace fusegate::ci {

namespace fs = std::filesystem;

namespace {

// Whether this program lies where it was built, in build/<preset>/bin of a checkout. What lies
// above the folder of one that was installed is not ours: nothing there is run.
bool is_in_build_folder() { return fs::exists(own_folder().parent_path() / "CMakeCache.txt"); }

fs::path above_build_folder() { return own_folder().parent_path().parent_path(); }

fs::path shared_folder() { return own_folder().parent_path() / "share" / "fusegate"; }

fs::path own_file(const char* name) {
  const fs::path beside = own_folder() / name;
  return fs::exists(beside) ? beside : shared_folder() / name;
}

}  // namespace

fs::path own_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

fs::path default_bench_program() { return own_folder() / "fusegate_bench"; }

fs::path project_templates() { return shared_folder() / "template"; }

fs::path peers_script() {
  const fs::path installed = own_file("peers/peers.py");
  if (fs::exists(installed) || !is_in_build_folder()) return installed;
  return above_build_folder().parent_path() / "bench" / "peers" / "peers.py";
}

std::string peers_python() {
  const char* chosen = std::getenv("FUSEGATE_PYTHON");
  return chosen == nullptr || *chosen == '\0' ? "python3" : chosen;
}

fs::path checkout_root(const fs::path& folder) {
  const fs::path start = fs::absolute(folder);
  for (fs::path candidate = start;; candidate = candidate.parent_path()) {
    if (fs::exists(candidate / ".git")) return candidate;
    if (candidate == candidate.parent_path()) return start;
  }
}

fs::path kept_folder() { return checkout_root(fs::current_path()) / ".fusegate"; }

std::string folder_name_of_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(now));
}

fs::path new_run_folder(std::string_view of) { return kept_folder() / of / folder_name_of_now(); }

std::vector<fs::path> default_stores(const fs::path& folder) {
  std::vector<fs::path> stores;
  for (const fs::path& root : {fs::absolute(folder), checkout_root(folder)}) {
    for (const fs::path& store : {root / "baselines", root / ".fusegate" / "baselines"}) {
      if (std::find(stores.begin(), stores.end(), store) == stores.end()) stores.push_back(store);
    }
  }
  return stores;
}

}  // namespace fusegate::ci
