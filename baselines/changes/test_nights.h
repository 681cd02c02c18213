// For tests: nights of two dozen benchmarks, six a kernel, with normal noise.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "baselines/changes/judge_nights.h"
#include "baselines/history/night.h"

namespace fusegate::baselines {

class TestNights {
 public:
  static constexpr int kBenchmarks = 24;
  static constexpr std::int64_t kDay_s = 86'400;

  // Stored figures of one card scatter by 0.05 %, replays by 0.03 %.
  explicit TestNights(int nights, bool has_replay = true) {
    for (int i = 0; i < nights; ++i) add_night(i, has_replay);
  }

  static std::string name(int benchmark) {
    return fmt::format("op{}/b{:02}", benchmark / 12, benchmark);
  }

  // From that night on; identities change with code.
  void step(int benchmark, int from, double size, bool is_code = true) {
    for (std::size_t i = static_cast<std::size_t>(from); i < nights.size(); ++i) {
      NightBenchmark& own = at(static_cast<int>(i), benchmark);
      own.log_equal_clock += size;
      if (own.over_replay) own.over_replay->value += size;
      if (is_code) own.identity += "'";
    }
  }

  // What the machine does to stored figures.
  void shift(int from, double size) {
    for (std::size_t i = static_cast<std::size_t>(from); i < nights.size(); ++i) {
      for (NightBenchmark& own : nights[i].benchmarks) own.log_equal_clock += size;
    }
  }

  template <typename Value>
  void set(Value Night::*field, int from, const Value& value) {
    for (std::size_t i = static_cast<std::size_t>(from); i < nights.size(); ++i) {
      nights[i].*field = value;
    }
  }

  NightBenchmark& at(int night, int benchmark) {
    return nights[static_cast<std::size_t>(night)].benchmarks[static_cast<std::size_t>(benchmark)];
  }

  Judged judged() const { return judge_nights(nights, nights.back().unix_s); }

  std::vector<Night> nights;

 private:
  void add_night(int number, bool has_replay) {
    Night night{.session = fmt::format("s{:03}", number), .unix_s = number * kDay_s};
    night.commit = fmt::format("c{}", number);
    night.card = "GPU-1";
    night.machine = "runner";
    night.driver = "570.1";
    night.suite = "nightly";
    if (has_replay) night.replayed = "c0";
    for (int i = 0; i < kBenchmarks; ++i) {
      NightBenchmark own{.name = name(i), .operation = fmt::format("op{}", i / 12), .processes = 5};
      own.log_equal_clock = 10 + 0.1 * i + 0.0005 * normal_(random_);
      own.process_variance = 5 * 0.0003 * 0.0003;
      own.ns = std::exp(10 + 0.1 * i);
      own.identity = fmt::format("i{}", i);
      own.kernels = {fmt::format("k{}|0", i / 6)};
      if (has_replay) own.over_replay = {0.0003 * normal_(random_), 0.0002 * 0.0002};
      night.benchmarks.push_back(std::move(own));
    }
    nights.push_back(std::move(night));
  }

  std::mt19937 random_{4};
  std::normal_distribution<double> normal_;
};

}  // namespace fusegate::baselines
