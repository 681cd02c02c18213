// A profiler for tests that logs its calls and delivers given records.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "bench/profiling/profiler.h"

namespace fusegate::bench {

// What fake profilers did and are to deliver.
struct FakeProfilerLog {
  // '[' attached, ']' detached, a part's number at its start, '.' at its end, 't' records taken
  std::string text{};
  std::int64_t now = 1'000;  // the clock, which goes on by 10 ns at every read
  Activity records{};        // delivered every time
  int fails_at_take = 0;     // which time loses records, from 1; 0 for none
};

class FakeProfiler : public Profiler {
 public:
  explicit FakeProfiler(FakeProfilerLog& log) : log_(log) { log_.text += '['; }
  ~FakeProfiler() override { log_.text += ']'; }
  // A copy would log its end a second time.
  FakeProfiler(const FakeProfiler&) = delete;
  FakeProfiler& operator=(const FakeProfiler&) = delete;

  std::int64_t now() const override { return log_.now += 10; }
  void begin_part(std::size_t number) override { log_.text += std::to_string(number); }
  void end_part() noexcept override { log_.text += '.'; }
  Activity take() override {
    if (--log_.fails_at_take == 0) throw ProfilerError(baselines::Warning::kProfileFailed);
    log_.text += 't';
    return log_.records;
  }

 private:
  FakeProfilerLog& log_;
};

}  // namespace fusegate::bench
