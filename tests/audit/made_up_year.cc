#include "tests/audit/made_up_year.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <random>
#include <string_view>

namespace fusegate::baselines::audit {
namespace {

constexpr std::int64_t kDay_s = 86'400, kStart_s = 1'767'232'800;  // 2026-01-01 02:00 UTC
constexpr int kDays = 365, kCards = 6, kProcesses = 5, kProblems = 6;
// Days of the year, from 0.
constexpr int kFamilySlower = 60, kPauseBegins = 100, kPauseEnds = 107, kOneSlower = 125,
              kDriver = 150, kReference = 200, kOneFaster = 240, kCreepFrom = 267, kCreepTo = 279,
              kBadCard = 300, kMethod = 330, kCardRetires = 346, kBenchmarksStop = 355;
constexpr double kReplayNoise = 0.00034, kStoredNoise = 0.00047, kSession = 0.0003, kCard = 0.002;

struct Code {
  const char* operation;
  const char* implementation;
  const char* kernel;
  bool is_control = false;
};
constexpr std::array<Code, 8> kCodes{{{"geglu", "fused", "gelu_mul"},
                                      {"geglu", "unfused", "gelu"},
                                      {"geglu_mlp", "fused_epilogue", "fused_gemm"},
                                      {"geglu_mlp", "fused_few_rows", "few_rows"},
                                      {"geglu_mlp", "unfused", "gelu"},
                                      {"linear", "addmm", "cublas_gemm"},
                                      {"linear", "matmul", "cublas_gemm"},
                                      {"control_copy", "memcpy", "copy", true}}};

std::string name_of(const Code& code, int problem) {
  return fmt::format("{}/{}/bf16/batch:{}/seq:128/dim:768", code.operation, code.implementation,
                     1 << problem);
}

std::string date_of(int day) {
  const std::time_t time = kStart_s + day * kDay_s;
  std::tm parts{};
  gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

std::string commit_of(int day) {
  return fmt::format("{:08x}", (static_cast<unsigned>(day) + 1) * 2'654'435'761U);
}

bool is_slower_family(const Code& code) { return code.kernel == std::string_view("fused_gemm"); }
const std::string kOneSlowerName = name_of(kCodes[4], 3), kOneFasterName = name_of(kCodes[0], 2);

// What the code takes that day, as a logarithm against the first.
double code_on(const std::string& name, const Code& code, int day) {
  double sum = 0;
  if (is_slower_family(code) && day >= kFamilySlower) sum += 0.012;
  if (name == kOneSlowerName && day >= kOneSlower) sum += 0.006;
  if (name == kOneFasterName && day >= kOneFaster) sum -= 0.02;
  if (name == kCreeping && day >= kCreepFrom) {
    sum += 0.0001 * (std::min(day, kCreepTo) - kCreepFrom + 1);
  }
  return sum;
}

int version_on(const std::string& name, const Code& code, int day) {
  return (is_slower_family(code) && day >= kFamilySlower ? 1 : 0) +
         (name == kOneFasterName && day >= kOneFaster ? 1 : 0);
}

class Year {
 public:
  std::vector<Night> nights() {
    std::vector<Night> nights;
    for (std::size_t card = 0; card <= kCards; ++card) {
      for (double& offset : cards_.emplace_back(kCodes.size() * kProblems)) offset = kCard * draw();
    }
    for (int day = 0; day < kDays; ++day) {
      if (day >= kPauseBegins && day < kPauseEnds) continue;
      nights.push_back(night(day, nights.empty() ? "" : nights.back().commit));
    }
    return nights;
  }

 private:
  double draw() { return normal_(random_); }

  static int card_on(int day) {
    if (day >= kBadCard && day % 7 == 6 && day % kCards != 5) return kCards;
    return day >= kCardRetires && day % kCards == 5 ? 4 : day % kCards;
  }

  Night night(int day, const std::string& parent) {
    const int card = card_on(day);
    const bool has_new_driver = day >= kDriver;
    Night night{.session = date_of(day), .unix_s = kStart_s + day * kDay_s};
    night.commit = commit_of(day);
    night.parent = parent;
    night.device = "NVIDIA H200";
    night.card = card == kCards ? "GPU-bad" : fmt::format("GPU-{}", card);
    night.machine = "runner-1";
    night.driver = has_new_driver ? "580.82" : "570.124";
    night.cuda = "13.0";
    night.cublas = "13.0.2";
    night.program = commit_of(day);
    night.suite = "nightly";
    night.method = day >= kMethod ? "b2" : "a1";
    night.replayed = commit_of(day >= kReference ? kReference - 5 : 0);
    const double session =
        kSession * draw() + (day >= kMethod ? -0.006 : 0) + (card == kCards ? 0.025 : 0);
    for (std::size_t i = 0; i < kCodes.size(); ++i) {
      for (int problem = 0; problem < kProblems; ++problem) {
        add(kCodes[i], problem, day,
            session + cards_[static_cast<std::size_t>(card)]
                            [i * kProblems + static_cast<std::size_t>(problem)],
            night);
      }
    }
    std::ranges::sort(night.benchmarks, {}, &NightBenchmark::name);
    return night;
  }

  void add(const Code& code, int problem, int day, double machine, Night& night) {
    NightBenchmark own{.name = name_of(code, problem),
                       .operation = code.operation,
                       .implementation = code.implementation,
                       .is_control = code.is_control,
                       .processes = kProcesses};
    const double driver = day < kDriver ? 0 : problem < 3 ? 0.004 : 0.009;
    const double code_now = code_on(own.name, code, day);
    const double reference = code_on(own.name, code, day >= kReference ? kReference - 5 : 0);
    const double log_ns = std::log(3000.0 * (problem + 1)) + code_now + driver + machine;
    const int version = version_on(own.name, code, day);
    own.log_equal_clock = log_ns + kStoredNoise * draw();
    own.process_variance = kProcesses * std::pow(0.7 * kStoredNoise, 2);
    own.ns = std::exp(own.log_equal_clock);
    own.cycles = 1.98 * own.ns;
    own.energy_j = 6e-7 * own.ns;
    own.host_ns = 4000 * (1 + 0.02 * draw());
    own.identity = fmt::format("{}-{}", own.name, version);
    own.kernels = {fmt::format("{}|{:08x}", code.kernel, version)};
    own.over_replay = {code_now - reference + kReplayNoise * draw(),
                       std::pow(0.7 * kReplayNoise, 2)};
    const bool has_stopped = day >= kBenchmarksStop && problem < 4 &&
                             code.operation == std::string_view("geglu") &&
                             code.implementation == std::string_view("unfused");
    if (!has_stopped) night.benchmarks.push_back(std::move(own));
  }

  std::mt19937_64 random_{2026};
  std::normal_distribution<double> normal_;
  std::vector<std::vector<double>> cards_;
};

}  // namespace

std::vector<Night> made_up_year() { return Year().nights(); }

std::vector<PlantedChange> planted_changes() {
  constexpr std::size_t kAll = kCodes.size() * kProblems;
  return {{"kernel fused_gemm", date_of(kFamilySlower), ChangeClass::kCode, 0.012, kProblems},
          {kOneSlowerName, date_of(kOneSlower), ChangeClass::kUnexplained, 0.006, 1},
          {"everything", date_of(kDriver), ChangeClass::kLibrary, 0.0065, kAll},
          {kOneFasterName, date_of(kOneFaster), ChangeClass::kCode, -0.02, 1},
          {"everything", "2026-10-28", ChangeClass::kCard, 0.025, kAll},
          {"everything", date_of(kMethod), ChangeClass::kMethod, -0.006, kAll}};
}

std::int64_t end_of_made_up_year() { return kStart_s + kDays * kDay_s; }

}  // namespace fusegate::baselines::audit
