#include "baselines/changes/families.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace fusegate::baselines {
namespace {

// "name" of "name|hash of machine code".
std::string_view kernel_of(std::string_view kernel) { return kernel.substr(0, kernel.rfind('|')); }

struct Pooled {
  double weights = 0, sum = 0;
  int members = 0, with_new_code = 0;
};

std::map<std::size_t, Pooled> pooled_by_night(const NightFamily& family,
                                              const std::vector<Track>& tracks,
                                              const std::set<std::size_t>& taken) {
  std::map<std::size_t, Pooled> nights;
  for (const std::size_t member : family.members) {
    if (taken.contains(member)) continue;
    for (const Point& point : tracks[member].points()) {
      Pooled& night = nights[point.night];
      night.weights += 1 / point.figure.variance;
      night.sum += (point.figure.value - tracks[member].code().mean) / point.figure.variance;
      ++night.members;
      if (point.is_new_code) ++night.with_new_code;
    }
  }
  return nights;
}

bool moved(const DatedChange& own, double together, int direction) {
  constexpr double kClearly = 2.5;
  const double score = direction * own.effect / std::sqrt(own.variance);
  return score > kClearly || (score > 1 && direction * own.effect > direction * together / 2);
}

void add_movers(const NightFamily& family, const std::vector<Track>& tracks, int direction,
                const std::set<std::size_t>& taken, FamilyChange& change) {
  double weights = 0, sum = 0;
  int judged = 0;
  for (const std::size_t member : family.members) {
    if (taken.contains(member)) continue;
    const Track& track = tracks[member];
    const std::size_t first = track.point_of(change.first_night);
    if (first == 0 || first >= track.points().size()) continue;
    ++judged;
    const DatedChange own = change_at(track.figures(), first);
    if (!moved(own, change.effect, direction)) continue;
    change.movers.push_back({member, own});
    weights += 1 / own.variance;
    sum += own.effect / own.variance;
  }
  if (change.movers.empty()) return;
  change.effect = sum / weights;
  change.variance = 1 / weights;
  change.share = static_cast<double>(change.movers.size()) / judged;
}

}  // namespace

int Families::number_of(const std::string& name) {
  const auto [found, is_new] = numbers_.try_emplace(name, static_cast<int>(families_.size()));
  if (is_new) families_.push_back({name});
  return found->second;
}

void Families::assign(std::size_t benchmark, const std::string& operation, Track& track) {
  for (const int family : track.families) {
    families_[static_cast<std::size_t>(family)].members.erase(benchmark);
  }
  std::set<int> numbers;
  if (!operation.empty()) numbers.insert(number_of("operation " + operation));
  for (const std::string& kernel : track.kernels) {
    numbers.insert(number_of("kernel " + std::string(kernel_of(kernel))));
  }
  track.families.assign(numbers.begin(), numbers.end());
  for (const int family : numbers) {
    families_[static_cast<std::size_t>(family)].members.insert(benchmark);
  }
}

void Families::add(const std::vector<NightScore>& night, const std::vector<Track>& tracks,
                   const CusumRule& rule) {
  struct Sum {
    double weights = 0, sum = 0;
    int members = 0;
  };
  std::vector<Sum> sums(families_.size());
  for (const NightScore& own : night) {
    for (const int family : tracks[own.benchmark].families) {
      Sum& sum = sums[static_cast<std::size_t>(family)];
      sum.weights += 1 / own.variance;
      sum.sum += std::clamp(own.score, -rule.clip, rule.clip) / std::sqrt(own.variance);
      ++sum.members;
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].members < 2) continue;
    const double pooled = sums[i].sum / std::sqrt(sums[i].weights);
    const VarianceEstimate noise = noise_.of(i);
    if (noise.degrees_of_freedom > 0) {
      families_[i].cusum.add(noise_.score(i, pooled, std::max(1.0, noise.variance)), rule);
    }
    noise_.add(i, pooled, 1);
  }
}

void Families::estimate() {
  constexpr double kMost = 1e6;
  noise_.estimate(std::vector<double>(families_.size()), kMost);
}

void Families::reset(const Track& track) {
  for (const int family : track.families) families_[static_cast<std::size_t>(family)].cusum.reset();
}

std::optional<FamilyChange> date_family(const NightFamily& family, const std::vector<Track>& tracks,
                                        int direction, const std::set<std::size_t>& taken) {
  std::vector<KnownNormal> series;
  std::vector<std::size_t> nights;
  std::vector<char> has_new_code;
  for (const auto& [night, own] : pooled_by_night(family, tracks, taken)) {
    nights.push_back(night);
    series.push_back({own.sum / own.weights, 1 / own.weights});
    has_new_code.push_back(2 * own.with_new_code >= own.members);
  }
  if (series.size() < 2) return std::nullopt;
  const DatedChange dated =
      date_change(series, [&](std::size_t i) { return has_new_code[i] != 0; });
  FamilyChange change{.first_night = nights[dated.first],
                      .night_before = nights[dated.first - 1],
                      .effect = dated.effect};
  if (direction * change.effect <= 0) return std::nullopt;
  add_movers(family, tracks, direction, taken, change);
  if (change.movers.size() < 2) return std::nullopt;
  return change;
}

}  // namespace fusegate::baselines
