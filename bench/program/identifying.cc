#include "bench/program/identifying.h"

#include <fmt/format.h>

#include <cstdio>

#include "baselines/launches/identities.h"
#include "bench/measuring/interrupt.h"
#include "bench/measuring/session.h"

namespace fusegate::bench {
namespace {

baselines::CallIdentity identity_of(const ProfileAttempt& attempt) {
  if (attempt.identity) return *attempt.identity;
  if (attempt.doubt) return {.unknown = std::string(baselines::doubt_sentence(*attempt.doubt))};
  return {.unknown = "this kind of device tells nothing of it"};
}

}  // namespace

Outcome identify(kernels::Device& device, Meter& meter, const Plan& plan, EnvironmentProbe& probe,
                 const InvocationInfo& info, const std::filesystem::path& out) {
  Ballast ballast(device, info.seed);
  const SessionContext context{device, meter, ballast, info.protocol, info.seed};
  baselines::Identities identities;
  for (const PlannedBenchmark& benchmark : plan.benchmarks) {
    if (interrupted()) return Outcome::kInterrupted;
    const std::string name = benchmark.name();
    try {
      const ProfileAttempt attempt = Session(context, benchmark).profile();
      identities.benchmarks[name] = identity_of(attempt);
      if (!attempt.choices.empty()) identities.choices[name] = attempt.choices;
    } catch (const std::exception& error) {
      identities.failures[name] = error.what();
      fmt::print(stderr, "fusegate_bench: {}: {}\n", name, error.what());
      if (is_lost(device)) return Outcome::kDeviceLost;
    }
  }
  identities.context = fusegate_context(info, probe);
  baselines::write_identities(out, identities);
  return identities.failures.empty() ? Outcome::kComplete : Outcome::kFailures;
}

}  // namespace fusegate::bench
