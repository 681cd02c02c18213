#include "ci/run/identification.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "baselines/launches/choice.h"
#include "baselines/record/program_variables.h"
#include "ci/console/format.h"
#include "ci/selection/selection.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

bool identifies_any(const baselines::Identities& identities) {
  return std::ranges::any_of(identities.benchmarks,
                             [](const auto& entry) { return entry.second.unknown.empty(); });
}

// Reports now and then that the answer is still to come: it takes minutes where a CPU checks large
// shapes.
std::function<void()> waiting_for(const ProcessRequest& request, Console& console) {
  using Clock = std::chrono::steady_clock;
  return [&, started = Clock::now(), reported = Clock::now()]() mutable {
    constexpr std::chrono::seconds kInterval{20};
    const auto now = Clock::now();
    if (now - reported < kInterval) return;
    reported = now;
    console.err.print("still identifying the code that {} runs, {} so far\n", request.program,
                      format_duration(std::chrono::duration<double>(now - started).count()));
    console.err.flush();
  };
}

// Programs that are asked one after the other. Where the first takes its time, the others load
// meanwhile: PyTorch takes 4 s, and more with what is built on it.
class Loading {
 public:
  explicit Loading(std::span<const ProcessRequest> requests) : requests_(requests) {}

  // Called while the first is asked.
  void consider() {
    constexpr std::chrono::seconds kPatience{1};
    const bool may_wait = std::getenv(baselines::kTurnVariable) == nullptr;
    if (!may_wait || is_begun_ || Clock::now() - started_ < kPatience) return;
    is_begun_ = true;
    try {
      for (const ProcessRequest& request : requests_.subspan(1))
        loaded_.push_back(start_identification(request));
    } catch (const std::system_error&) {
      loaded_.clear();  // whoever asks it says what is wrong
    }
  }
  // Null where it has not been started.
  StartedChild* find(std::size_t request) {
    return request > 0 && !loaded_.empty() ? &loaded_[request - 1] : nullptr;
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::span<const ProcessRequest> requests_;
  Clock::time_point started_ = Clock::now();
  bool is_begun_ = false;
  std::vector<StartedChild> loaded_;
};

// What is asked, and of what use an answer is.
struct Question {
  const ProcessRequest& request;
  bool names_suffice = false;
};

IdentifyResult ask(const Question& question, Loading& loading, StartedChild* started,
                   Console& console) {
  const ProcessRequest& request = question.request;
  console.err.print("identifying the code that {} runs\n", request.program);
  const auto on_idle = [&loading, wait = waiting_for(request, console)]() mutable {
    loading.consider();
    wait();
  };
  const IdentificationOutcome outcome = run_identification(request, on_idle, started);
  if (outcome.interrupted) return IdentifyResult::kInterrupted;
  if (outcome.identities) {
    const bool is_of_use = question.names_suffice || identifies_any(*outcome.identities);
    return is_of_use ? IdentifyResult::kAll : IdentifyResult::kNotAll;
  }
  if (outcome.knows_how) {
    console.err.print("fusegate: measuring all benchmarks, since {} cannot identify its code: {}\n",
                      request.program, outcome.failure);
  }
  return IdentifyResult::kNotAll;
}

bool wants_fresh_choices(const ProcessRequest& request) {
  const auto kept = request.environment.find(baselines::kPinChoicesVariable);
  return kept != request.environment.end() && kept->second.empty();
}

// Has the program take the choices in that folder.
void take_choices_of(const fs::path& folder, ProcessRequest& request) {
  if (wants_fresh_choices(request)) return;
  request.environment[baselines::kPinChoicesVariable] =
      (folder / baselines::kIdentitiesFile).string();
}

// A program, and what it was found to launch.
struct Found {
  ProcessRequest request;
  baselines::Identities identities;
};

// Benchmarks for which both autotune, and have come to other code.
std::vector<std::string> chosen_differently(const baselines::Identities& a,
                                            const baselines::Identities& b) {
  std::vector<std::string> names;
  for (const auto& [name, choices] : a.choices) {
    const auto others = b.choices.find(name);
    if (others == b.choices.end() || !a.benchmarks.contains(name) || !b.benchmarks.contains(name) ||
        identical_code(a.benchmarks.at(name), b.benchmarks.at(name))) {
      continue;
    }
    const bool differ = std::ranges::any_of(choices, [&others](const auto& choice) {
      const auto other = others->second.find(choice.first);
      return other != others->second.end() &&
             baselines::choice_name(other->second) != baselines::choice_name(choice.second) &&
             baselines::is_autotuned(choice.second) && baselines::is_autotuned(other->second);
    });
    if (differ) names.push_back(name);
  }
  return names;
}

bool chose_alike(const std::map<std::string, std::string>& a,
                 const std::map<std::string, std::string>& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return one.first == other.first &&
           baselines::choice_name(one.second) == baselines::choice_name(other.second);
  });
}

// Has one tune again where the two chose differently, and keeps what now agrees with the other.
// False where it was interrupted.
bool tune_again(Found& asked, const Found& other, Console& console) {
  const std::vector<std::string> names = chosen_differently(asked.identities, other.identities);
  const auto filter = benchmark_filter_flag(names);
  if (names.empty() || !filter) return true;
  ProcessRequest request = asked.request;
  request.flags.push_back(*filter);
  request.folder /= "asked_again";
  fs::create_directories(request.folder);
  console.err.print("{} tunes {} again, where the programs chose different kernels\n",
                    request.program, format_count(names.size(), "benchmark"));
  const IdentificationOutcome outcome = run_identification(request);
  fs::remove_all(request.folder);
  if (outcome.interrupted) return false;
  if (!outcome.identities) {
    console.err.print("fusegate: {} cannot identify its code: {}\n", request.program,
                      outcome.failure);
    return true;
  }
  for (const std::string& name : names) {
    const auto& [context, benchmarks, choices, counters, failures, load_s] = *outcome.identities;
    if (!benchmarks.contains(name) || !choices.contains(name)) continue;
    const bool agree = identical_code(benchmarks.at(name), other.identities.benchmarks.at(name)) ||
                       chose_alike(choices.at(name), other.identities.choices.at(name));
    if (!agree) continue;
    asked.identities.benchmarks[name] = benchmarks.at(name);
    asked.identities.choices[name] = choices.at(name);
  }
  return true;
}

// Where autotuning picks either of two kernels half of the time, the programs still differ in 3 %.
constexpr int kMostTunings = 2;

IdentifyResult settle_choices(const ProcessRequest& first, const ProcessRequest& second,
                              Console& console) {
  Found a{first, baselines::read_identities(first.folder / baselines::kIdentitiesFile)};
  Found b{second, baselines::read_identities(second.folder / baselines::kIdentitiesFile)};
  if (chosen_differently(a.identities, b.identities).empty()) return IdentifyResult::kAll;
  take_choices_of(first.folder, a.request);
  for (int round = 0; round < kMostTunings; ++round) {
    for (const auto& [asked, other] : {std::pair(&b, &a), std::pair(&a, &b)}) {
      if (!tune_again(*asked, *other, console)) return IdentifyResult::kInterrupted;
    }
  }
  for (const Found* found : {&a, &b}) {
    baselines::write_identities(found->request.folder / baselines::kIdentitiesFile,
                                found->identities);
  }
  return IdentifyResult::kAll;
}

std::vector<ProcessRequest> first_of_each_program(const std::vector<ProcessRequest>& requests) {
  std::vector<ProcessRequest> asked;
  for (const ProcessRequest& request : requests) {
    if (std::ranges::count(asked, request.program, &ProcessRequest::program) > 0) continue;
    asked.push_back(request);
    if (asked.size() > 1) take_choices_of(asked.front().folder, asked.back());
  }
  return asked;
}

IdentifyResult identify(const std::vector<ProcessRequest>& asked, bool names_suffice,
                        Console& console) {
  Loading loading(asked);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const IdentifyResult result = ask({asked[i], names_suffice}, loading, loading.find(i), console);
    if (result != IdentifyResult::kAll) return result;
  }
  if (asked.size() != 2 || wants_fresh_choices(asked.back())) return IdentifyResult::kAll;
  return settle_choices(asked.front(), asked.back(), console);
}

}  // namespace

void take_found_choices(ProcessRequest& request) {
  if (wants_fresh_choices(request)) return;
  take_choices_of(request.folder, request);
  request.environment[baselines::kPinStrictlyVariable] = "true";
}

IdentifyResult identify_programs(const std::vector<ProcessRequest>& requests, Console& console,
                                 bool names_suffice) {
  const std::vector<ProcessRequest> asked = first_of_each_program(requests);
  const IdentifyResult result = identify(asked, names_suffice, console);
  for (const ProcessRequest& request : requests) {
    const fs::path own = request.folder / baselines::kIdentitiesFile;
    const auto same = std::ranges::find(asked, request.program, &ProcessRequest::program);
    if (result != IdentifyResult::kAll) {
      fs::remove(own);
    } else if (same->folder != request.folder) {
      fs::copy_file(same->folder / baselines::kIdentitiesFile, own,
                    fs::copy_options::overwrite_existing);
    }
  }
  return result;
}

}  // namespace fusegate::ci
