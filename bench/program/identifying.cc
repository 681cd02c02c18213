#include "bench/program/identifying.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "baselines/launches/identities.h"
#include "bench/machine/log_warning.h"
#include "bench/measuring/session.h"
#include "bench/program/turn.h"
#include "bench/ranks/interrupt.h"
#include "bench/ranks/rank_group.h"

namespace fusegate::bench {
namespace {

baselines::CallIdentity identity_of(const ProfileAttempt& attempt) {
  if (attempt.identity) return *attempt.identity;
  if (attempt.warning)
    return {.unknown = std::string(baselines::warning_sentence(*attempt.warning))};
  return {.unknown = "not supported on this device"};
}

// Passes over all benchmarks. Autotuning comes before a profiler is attached, which would slow it.
enum class Pass { kAutotune, kProfile };

void run_pass(Pass pass, const SessionContext& context, const PlannedBenchmark& benchmark,
              baselines::Identities& identities) {
  Session session(context, benchmark);
  if (pass == Pass::kAutotune) return session.choose();
  const ProfileAttempt attempt = session.profile();
  identities.benchmarks[benchmark.name()] = identity_of(attempt);
  if (!attempt.choices.empty()) identities.choices[benchmark.name()] = attempt.choices;
  std::map<std::string, double> counters;
  for (const auto& [counter, value] :
       {std::pair("flops", attempt.flops), std::pair("min_bytes", attempt.min_bytes),
        std::pair("memory_bytes", attempt.memory_bytes)}) {
    if (value > 0) counters[counter] = value;
  }
  if (attempt.kept_bytes) counters["kept_bytes"] = *attempt.kept_bytes;
  if (!counters.empty()) identities.counters[benchmark.name()] = std::move(counters);
}

[[noreturn]] void end(const Plan& plan, const Watchdog::Stuck& stuck) {
  log_warning("{} did not end; no identities were written",
              plan.benchmarks[stuck.benchmark].name());
  std::_Exit(2);
}

}  // namespace

Outcome identify(kernels::Device& device, Meter& meter, const Plan& plan, EnvironmentProbe& probe,
                 const ProcessInfo& info, const std::filesystem::path& out,
                 std::optional<std::chrono::seconds> stuck_after) {
  Watchdog watchdog(stuck_after ? *stuck_after : kNoTimeout,
                    [&plan](const Watchdog::Stuck& stuck) { end(plan, stuck); });
  Ballast ballast(device, info.seed);
  const SessionContext context{device, meter, ballast, info.protocol, info.seed};
  baselines::Identities identities;
  for (const Pass pass : {Pass::kAutotune, Pass::kProfile}) {
    for (std::size_t i = 0; i < plan.benchmarks.size(); ++i) {
      if (interrupted()) return Outcome::kInterrupted;
      const PlannedBenchmark& benchmark = plan.benchmarks[i];
      const std::string name = benchmark.name();
      if (identities.failures.contains(name)) continue;
      const RankGroup group(device, benchmark.problem);
      if (!group.takes_part()) continue;
      try {
        const Watchdog::Piece piece(watchdog, i);
        run_pass(pass, context, benchmark, identities);
      } catch (const std::exception& error) {
        identities.failures[name] = error.what();
        log_warning("{}: {}", name, error.what());
        if (is_lost(device)) return Outcome::kDeviceLost;
      }
    }
  }
  identities.context = fusegate_context(info, probe);
  identities.load_s = load_s();
  if (device.ranks().is_first()) baselines::write_identities(out, identities);
  return identities.failures.empty() ? Outcome::kComplete : Outcome::kFailures;
}

}  // namespace fusegate::bench
