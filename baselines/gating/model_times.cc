#include "baselines/gating/model_times.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "baselines/record/benchmark_name.h"

namespace fusegate::baselines {
namespace {

constexpr double kUnknownNs = std::numeric_limits<double>::quiet_NaN();

// A benchmark on both sides.
struct TimedCall {
  std::string benchmark;
  std::string implementation;
  double baseline_ns = kUnknownNs;
  double candidate_ns = kUnknownNs;
  bool is_measured = true;
  const KernelProfile* profile = nullptr;
  const Verdict* change = nullptr;  // a regression or an improvement
};

// By implementation.
using CallTimes = std::map<std::string, const TimedCall*>;

double mean_ns(const BenchmarkSeries& series) {
  double sum = 0;
  for (const ProcessSummary& process : series.processes) sum += std::log(process.time_ns);
  return std::exp(sum / static_cast<double>(series.processes.size()));  // NaN of none
}

std::map<std::string, TimedCall> timed_calls(const Run& candidate,
                                             const std::vector<const Run*>& earlier,
                                             const std::vector<Verdict>& verdicts) {
  std::map<std::string, TimedCall> calls;
  for (const Run* run : earlier) {
    for (const BenchmarkSeries& series : run->benchmarks) {
      if (series.processes.empty()) continue;
      TimedCall& call = calls[series.name];
      if (std::isnan(call.baseline_ns)) call.baseline_ns = mean_ns(series);
      if (call.profile == nullptr && series.profile) call.profile = &*series.profile;
    }
  }
  for (const BenchmarkSeries& series : candidate.benchmarks) {
    TimedCall& call = calls[series.name];
    call.is_measured = !series.is_unmeasured();
    if (!call.is_measured) call.candidate_ns = call.baseline_ns;
    if (call.is_measured && series.failure.empty()) call.candidate_ns = mean_ns(series);
    if (series.profile) call.profile = &*series.profile;
  }
  for (const Verdict& verdict : verdicts) {
    const bool has_changed =
        verdict.kind == VerdictKind::kRegression || verdict.kind == VerdictKind::kImprovement;
    if (has_changed) calls[verdict.benchmark].change = &verdict;
  }
  return calls;
}

double changed_ns(const TimedCall& call) {
  return call.change != nullptr ? call.change->estimates.effect * call.baseline_ns : 0;
}

void set_longest_stage(const std::map<std::string, double>& stages_ns, ModelTime* time) {
  double sum = 0;
  for (const auto& [stage, ns] : stages_ns) sum += ns;
  for (const auto& [stage, ns] : stages_ns) {
    if (ns / sum <= time->longest_share) continue;
    time->longest_stage = stage;
    time->longest_share = ns / sum;
  }
}

// calls: one of each of the model's.
ModelTime layer_of(const Model& model, const std::vector<const TimedCall*>& calls) {
  ModelTime time;
  std::map<std::string, double> stages_ns;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const TimedCall& call = *calls[i];
    const double weight = model.calls[i].per_layer;
    if (i == 0) time.implementation = call.implementation;
    if (call.implementation != calls[0]->implementation) {
      time.implementation += " + " + call.implementation;
    }
    time.benchmarks.push_back(call.benchmark);
    time.baseline_ns += weight * call.baseline_ns;
    time.candidate_ns += weight * call.candidate_ns;
    time.changed_ns += weight * changed_ns(call);
    time.is_measured = time.is_measured && call.is_measured;
    if (call.profile == nullptr) continue;
    for (const ProfiledKernel& kernel : call.profile->kernels) {
      stages_ns[kernel.stage.empty() ? kernel.name : kernel.stage] += weight * kernel.duration_ns;
    }
  }
  set_longest_stage(stages_ns, &time);
  return time;
}

// One of each call; nothing where one of them has none.
using Layer = std::optional<std::vector<const TimedCall*>>;

// side_ns: NaN where the side has no time.
Layer fastest_of(const std::vector<CallTimes>& calls, double TimedCall::*side_ns) {
  std::vector<const TimedCall*> all;
  for (const CallTimes& implementations : calls) {
    const TimedCall* fastest = nullptr;
    for (const auto& [name, call] : implementations) {
      if (std::isnan(call->*side_ns)) continue;
      if (fastest == nullptr || call->*side_ns < fastest->*side_ns) fastest = call;
    }
    if (fastest == nullptr) return std::nullopt;
    all.push_back(fastest);
  }
  return all;
}

std::vector<ModelTime> times_by_implementation(const Model& model,
                                               const std::vector<CallTimes>& calls) {
  std::vector<ModelTime> times;
  for (const auto& [name, first] : calls.front()) {
    std::vector<const TimedCall*> own;
    for (const CallTimes& implementations : calls) {
      const auto found = implementations.find(name);
      if (found != implementations.end()) own.push_back(found->second);
    }
    if (own.size() == calls.size()) times.push_back(layer_of(model, own));
  }
  const auto by_time = [](const ModelTime& time) {
    return std::isnan(time.candidate_ns) ? std::numeric_limits<double>::infinity()
                                         : time.candidate_ns;
  };
  std::ranges::stable_sort(times, {}, by_time);
  return times;
}

// One dtype and size of a batch of a model.
class Batch {
 public:
  Batch(const Model& model, std::string dtype, std::int64_t rows)
      : model_(&model), dtype_(std::move(dtype)), rows_(rows), calls_(model.calls.size()) {}

  void add(std::size_t call, const TimedCall& timed) {
    calls_[call].emplace(timed.implementation, &timed);  // however its rows split, the first counts
  }
  void roll_up(ModelTimes* times) const {
    const Layer fastest = fastest_of(calls_, &TimedCall::candidate_ns);
    const Layer before = fastest_of(calls_, &TimedCall::baseline_ns);
    add_movers(fastest, before, times);
    if (!fastest) return;
    ModelRow row{.dtype = dtype_, .rows = rows_, .fastest = layer_of(*model_, *fastest)};
    if (before) row.baseline_fastest = layer_of(*model_, *before);
    row.implementations = times_by_implementation(*model_, calls_);
    times->rows.push_back(std::move(row));
  }

 private:
  void add_movers(const Layer& fastest, const Layer& before, ModelTimes* times) const {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const auto is_in = [i](const Layer& layer, const TimedCall* call) {
        return layer && (*layer)[i] == call;
      };
      for (const auto& [name, call] : calls_[i]) {
        if (call->change == nullptr) continue;
        const double layer_ns = model_->calls[i].per_layer * changed_ns(*call);
        times->movers.push_back({.benchmark = call->benchmark,
                                 .dtype = dtype_,
                                 .rows = rows_,
                                 .kind = call->change->kind,
                                 .effect = call->change->estimates.effect,
                                 .token_ns = times->token_ns(rows_, layer_ns),
                                 .is_fastest = is_in(fastest, call) || is_in(before, call)});
      }
    }
  }

  const Model* model_;
  std::string dtype_;
  std::int64_t rows_;
  std::vector<CallTimes> calls_;
};

ModelTimes times_of(const Model& model, std::map<std::string, TimedCall>& timed) {
  std::map<std::pair<std::string, std::int64_t>, Batch> batches;
  for (auto& [benchmark, call] : timed) {
    const auto name = parse_benchmark_name(benchmark);
    if (!name) continue;
    call.benchmark = benchmark;
    call.implementation = name->implementation;
    for (std::size_t i = 0; i < model.calls.size(); ++i) {
      const std::int64_t rows = model.calls[i].rows_of(*name);
      if (rows == 0) continue;
      const auto key = std::pair(name->dtype, rows);
      batches.try_emplace(key, model, name->dtype, rows).first->second.add(i, call);
    }
  }
  ModelTimes times{.model = model};
  for (const auto& [key, batch] : batches) batch.roll_up(&times);
  std::ranges::stable_sort(times.movers, comes_first);
  return times;
}

}  // namespace

bool comes_first(const ModelMover& a, const ModelMover& b) {
  if (a.is_fastest != b.is_fastest) return a.is_fastest;
  return std::abs(a.token_ns) > std::abs(b.token_ns);
}

double ModelTimes::token_ns(std::int64_t batch, double layer_ns) const {
  return layer_ns * model.layers / static_cast<double>(batch);
}

std::vector<ModelTimes> model_times(const Run& candidate, const std::vector<const Run*>& earlier,
                                    const std::vector<Verdict>& verdicts) {
  std::vector<ModelTimes> all;
  if (candidate.provenance.models.empty()) return all;
  std::map<std::string, TimedCall> timed = timed_calls(candidate, earlier, verdicts);
  for (const Model& model : candidate.provenance.models) all.push_back(times_of(model, timed));
  return all;
}

}  // namespace fusegate::baselines
