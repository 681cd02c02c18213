// A program as Google Benchmark's guide writes it, without anything of fusegate's. Its times are
// those of the processor, so that others on the machine do not move them. For tests, by variables:
// PLAIN_SLOWER, how many times as long BM_busy takes; PLAIN_FAULT, what goes wrong; and
// PLAIN_IGNORES_FLAGS, whether its main leaves out the check of unknown flags, as many do.

#include <benchmark/benchmark.h>
#include <signal.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

double processor_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void busy(double rounds) {
  double value = 1;
  for (double i = 0; i < rounds; ++i) benchmark::DoNotOptimize(value = value * 1.0000001 + 1e-9);
}

// rounds: of each iteration.
void measure_busy(benchmark::State& state, double rounds) {
  for ([[maybe_unused]] auto _ : state) {
    const double start_s = processor_s();
    busy(rounds);
    state.SetIterationTime(processor_s() - start_s);
  }
}

void BM_busy(benchmark::State& state) {
  const std::string_view slower = variable("PLAIN_SLOWER");
  measure_busy(
      state, static_cast<double>(state.range(0)) * (slower.empty() ? 1 : std::atof(slower.data())));
}
BENCHMARK(BM_busy)->ArgName("rounds")->Arg(20000)->Arg(40000)->UseManualTime();

void BM_steady(benchmark::State& state) {
  const std::string_view fault = state.range(0) > 10000 ? "" : variable("PLAIN_FAULT");
  if (fault == "error") state.SkipWithError("no memory");
  if (fault == "kill") raise(SIGKILL);
  measure_busy(state, static_cast<double>(state.range(0)));
}
BENCHMARK(BM_steady)->DenseRange(10000, 40000, 10000)->UseManualTime();

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const bool checks_flags = variable("PLAIN_IGNORES_FLAGS").empty();
  if (checks_flags && benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  if (variable("PLAIN_FAULT") == "nothing") return 0;
  benchmark::RunSpecifiedBenchmarks();
  if (variable("PLAIN_FAULT") == "exit") {
    std::fputs("plain: the device is gone\n", stderr);
    return 3;
  }
  return 0;
}
