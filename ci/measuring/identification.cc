#include "ci/measuring/identification.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <map>
#include <utility>

#include "baselines/record/keep_choices_variable.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

bool tells_anything(const baselines::Identities& identities) {
  return std::ranges::any_of(identities.benchmarks,
                             [](const auto& entry) { return entry.second.unknown.empty(); });
}

Told ask(const InvocationRequest& request, Console& console) {
  fmt::print(console.err, "finding out what {} launches\n", request.program);
  const IdentificationOutcome outcome = run_identification(request);
  if (outcome.interrupted) return Told::kInterrupted;
  if (outcome.identities) {
    return tells_anything(*outcome.identities) ? Told::kAll : Told::kNotAll;
  }
  if (outcome.knows_how) {
    fmt::print(console.err,
               "fusegate: all is measured, since {} does not say what it launches: {}\n",
               request.program, outcome.failure);
  }
  return Told::kNotAll;
}

}  // namespace

void keep_choices_of(const fs::path& folder, std::map<std::string, std::string>& environment) {
  const auto [kept, is_free] = environment.try_emplace(baselines::kKeepChoicesVariable);
  if (!is_free && kept->second.empty()) return;  // told to choose anew
  kept->second = (folder / baselines::kIdentitiesFile).string();
}

Told identify_programs(std::vector<InvocationRequest> requests, Console& console) {
  std::map<std::string, fs::path> asked;
  Told told = Told::kAll;
  for (InvocationRequest& request : requests) {
    if (!asked.empty()) keep_choices_of(requests.front().folder, request.environment);
    const auto [found, is_first] = asked.try_emplace(request.program, request.folder);
    if (is_first) {
      told = ask(request, console);
    } else {
      fs::copy_file(found->second / baselines::kIdentitiesFile,
                    request.folder / baselines::kIdentitiesFile,
                    fs::copy_options::overwrite_existing);
    }
    if (told != Told::kAll) break;
  }
  if (told == Told::kAll) return told;
  for (const InvocationRequest& request : requests) {
    fs::remove(request.folder / baselines::kIdentitiesFile);
  }
  return told;
}

}  // namespace fusegate::ci
