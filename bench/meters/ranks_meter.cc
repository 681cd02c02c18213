#include "bench/meters/ranks_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

namespace fusegate::bench {
namespace {

using kernels::Ranks;

// What a rank gives the others of a sample.
struct Given {
  double batch_ns, sm_clock_hz, hidden_ns, held_up_ns;
};

std::string bytes_of(const Given& given) {
  std::string bytes(sizeof(given), '\0');
  std::memcpy(bytes.data(), &given, sizeof(given));
  return bytes;
}

Given given_by(const std::string& bytes) {
  Given given{};
  std::memcpy(&given, bytes.data(), std::min(bytes.size(), sizeof(given)));
  return given;
}

// NaN where one does not know.
double larger(double one, double other) {
  return std::isnan(one) || std::isnan(other) ? NAN : std::max(one, other);
}

Sample of_all(Ranks& ranks, const Sample& mine) {
  const Given own{mine.batch_ns, mine.sm_clock_hz, mine.hidden_ns, mine.held_up_ns};
  Sample all;
  for (const std::string& bytes : ranks.gather("a sample", bytes_of(own))) {
    const Given one = given_by(bytes);
    const bool is_first = all.of_ranks.empty();
    all.of_ranks.push_back({one.batch_ns, one.sm_clock_hz});
    if (is_first || one.batch_ns > all.batch_ns) {
      all.batch_ns = one.batch_ns;
      all.sm_clock_hz = one.sm_clock_hz;
    }
    all.hidden_ns = is_first ? one.hidden_ns : larger(all.hidden_ns, one.hidden_ns);
    all.held_up_ns = std::max(all.held_up_ns, one.held_up_ns);
  }
  return all;
}

// The first rank's launches, then those of each rank that launches something else.
baselines::CallIdentity identity_of_all(Ranks& ranks, const baselines::CallIdentity& mine) {
  baselines::CallIdentity all;
  const std::string own = baselines::identity_json(mine).dump();
  const std::vector<std::string> texts = ranks.gather("an identity", own);
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (rank > 0 && texts[rank] == texts[0]) continue;
    const std::string of_rank = fmt::format("rank {}", rank);
    const nlohmann::json json = nlohmann::json::parse(texts[rank]);
    const auto one = baselines::parse_identity(baselines::JsonField(json, of_rank, "identity"));
    if (!one.unknown.empty()) return {.unknown = fmt::format("{}: {}", of_rank, one.unknown)};
    for (baselines::LaunchIdentity launch : one.launches) {
      if (rank > 0) launch.launch = fmt::format("{}: {}", of_rank, launch.launch);
      all.launches.push_back(std::move(launch));
    }
    all.order += all.order.empty() ? one.order : " " + one.order;
  }
  return all;
}

class RanksBatch : public Batch {
 public:
  // ranks: those that take part in the benchmark.
  RanksBatch(std::shared_ptr<Ranks> ranks, std::unique_ptr<Batch> own)
      : shared_(std::move(ranks)), ranks_(*shared_), own_(std::move(own)) {}

  Sample run() override {
    begin();
    return of_all(ranks_, own_->run());
  }
  void start() override {
    begin();
    own_->start();
  }
  void launch() override {
    begin();
    own_->launch();
  }
  double run_changing(const Changes& changes) override {
    begin();
    return ranks_.largest("calls whose inputs change", own_->run_changing(changes));
  }
  int fewest_calls() const override { return own_->fewest_calls(); }

 private:
  void begin() {
    ranks_.wait("a batch");
    ranks_.note("a batch");
  }

  std::shared_ptr<Ranks> shared_;
  Ranks& ranks_;
  std::unique_ptr<Batch> own_;
};

class RanksMeter : public Meter {
 public:
  RanksMeter(kernels::Device& device, std::unique_ptr<Meter> own)
      : device_(device), own_(std::move(own)) {}

  std::unique_ptr<Batch> record(const kernels::PreparedKernel& kernel,
                                const BatchOptions& options) override {
    std::unique_ptr<Batch> own;
    ranks().together("recording a batch", [&] { own = own_->record(kernel, options); });
    return std::make_unique<RanksBatch>(device_.shared_ranks(), std::move(own));
  }
  std::string not_capturable(const kernels::PreparedKernel& kernel,
                             const std::vector<kernels::Tensor>& results,
                             const std::function<void()>& change_inputs) override {
    std::string why;
    ranks().together("capturing",
                     [&] { why = own_->not_capturable(kernel, results, change_inputs); });
    return ranks().any("what cannot be captured", why);
  }
  std::optional<StaleArgument> stale_argument(
      const kernels::PreparedKernel& kernel, const std::vector<kernels::Tensor>& tensors) override {
    return own_->stale_argument(kernel, tensors);
  }
  bool can_spin() const override { return own_->can_spin(); }
  LaunchCount count_launches(const kernels::PreparedKernel& kernel) override {
    return own_->count_launches(kernel);
  }
  double host_ns(const kernels::PreparedKernel& kernel) override {
    ranks().wait("host time");
    return ranks().largest("host time", own_->host_ns(kernel));
  }
  double host_graph_ns(const kernels::PreparedKernel& kernel) override {
    ranks().wait("host time of a graph");
    return ranks().largest("host time of a graph", own_->host_graph_ns(kernel));
  }
  std::vector<kernels::KernelResources> kernels(const kernels::Stage& stage) override {
    return own_->kernels(stage);
  }
  void annotate(const kernels::PreparedKernel& kernel, const std::string& benchmark) override {
    own_->annotate(kernel, benchmark);
  }
  ProfileAttempt profile(const kernels::PreparedKernel& kernel,
                         const std::vector<kernels::Tensor>& tensors, bool captured) override {
    ProfileAttempt attempt;
    ranks().together("a profile", [&] { attempt = own_->profile(kernel, tensors, captured); });
    if (ranks().all("identities", attempt.identity.has_value())) {
      attempt.identity = identity_of_all(ranks(), *attempt.identity);
    } else {
      attempt.identity.reset();
    }
    return attempt;
  }
  std::unique_ptr<Profiler> attach_profiler() override { return own_->attach_profiler(); }

 private:
  // Those of the benchmark that is measured.
  Ranks& ranks() const { return device_.ranks(); }

  kernels::Device& device_;
  std::unique_ptr<Meter> own_;
};

}  // namespace

std::unique_ptr<Meter> make_ranks_meter(kernels::Device& device, std::unique_ptr<Meter> meter) {
  return std::make_unique<RanksMeter>(device, std::move(meter));
}

}  // namespace fusegate::bench
