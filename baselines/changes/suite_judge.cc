#include "baselines/changes/suite_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "baselines/changes/environment_change.h"

namespace fusegate::baselines {
namespace {

constexpr double kNormal95 = 1.96;
constexpr int kWeek = 7;

double clipped(double value, double variance) {
  const double most = CusumRule{}.clip * std::sqrt(variance);
  return std::clamp(value, -most, most);
}

}  // namespace

std::vector<ChangePoint> SuiteJudge::add(const Night& night) {
  nights_.push_back(&night);
  NightRows rows = rows_of(night);
  replay_.read(night, code_of_reference(night.replayed), rows);
  stored_.read(night, rows);
  std::vector<ChangePoint> reported = machine_.read(nights_, rows, stored_);
  families_.add(judge(rows), tracks_, options_.families);
  report_families(reported);
  report_benchmarks(reported);
  if (!night.commit.empty()) night_of_commit_[night.commit] = nights_.size() - 1;
  estimate();
  return reported;
}

std::size_t SuiteJudge::number_of(const NightBenchmark& own) {
  const auto [found, is_new] = numbers_.try_emplace(own.name, tracks_.size());
  if (is_new) tracks_.emplace_back(own.name, own.is_control);
  return found->second;
}

NightRows SuiteJudge::rows_of(const Night& night) {
  NightRows rows;
  for (const NightBenchmark& own : night.benchmarks) {
    if (own.processes <= 0) continue;
    NightRow row{.benchmark = number_of(own), .own = &own};
    Track& track = tracks_[row.benchmark];
    row.is_new_code =
        !own.identity.empty() && !track.identity.empty() && own.identity != track.identity;
    if (!own.identity.empty()) track.identity = own.identity;
    if (track.points().empty() || own.kernels != track.kernels) {
      track.kernels = own.kernels;
      families_.assign(row.benchmark, own.operation, track);
    }
    if (std::isfinite(own.ns) && own.ns > 0) track.log_ns = std::log(own.ns);
    row.code = track.code();
    rows.push_back(row);
  }
  return rows;
}

std::vector<double> SuiteJudge::code_of_reference(const std::string& commit) const {
  const auto night = night_of_commit_.find(commit);
  if (night == night_of_commit_.end()) return {};
  std::vector<double> code;
  for (const Track& track : tracks_) code.push_back(track.code_at(night->second));
  return code;
}

std::vector<NightScore> SuiteJudge::judge(const NightRows& rows) {
  std::vector<NightScore> scores;
  for (const NightRow& row : rows) {
    const NightScore score = judge(row);
    Track& track = tracks_[row.benchmark];
    const bool is_decided =
        score.variance > 0 && score.variance <= std::pow(options_.largest_standard_error, 2);
    track.undecided_nights = is_decided ? 0 : track.undecided_nights + 1;
    track.standard_error = std::sqrt(score.variance);
    if (score.variance == 0 || track.is_control()) continue;
    track.cusum.add(score.score, options_.benchmarks);
    scores.push_back(score);
  }
  return scores;
}

// By the replay where there is one, else by stored figures.
NightScore SuiteJudge::judge(const NightRow& row) {
  const bool by_replay = row.replay.is_judged;
  NightScore score{.benchmark = row.benchmark};
  if (by_replay || row.stored.is_judged) {
    const Figure& figure = by_replay ? row.replay : row.stored;
    const double left = figure.value - row.code.mean;
    score.variance = figure.variance + row.code.variance;
    score.score = by_replay ? replay_.noise().score(row.benchmark, left, score.variance)
                            : stored_.score(row, left, score.variance);
    tracks_[row.benchmark].add({.night = nights_.size() - 1,
                                .figure = {figure.value, figure.variance},
                                .gain = static_cast<float>(figure.gain),
                                .key = figure.key,
                                .is_new_code = row.is_new_code},
                               clipped(left, score.variance));
  }
  learn_replay(row);
  learn_stored(row);
  return score;
}

void SuiteJudge::learn_replay(const NightRow& row) {
  const double left = row.replay.value - row.code.mean;
  const double variance = row.replay.variance + row.code.variance;
  replay_.learn(row, clipped(left, variance));
  if (!row.replay.is_known() || row.is_new_code) return;
  NightNoise& noise = replay_.noise();
  noise.add(row.benchmark, left, variance / noise.of(row.benchmark).variance);
}

void SuiteJudge::learn_stored(const NightRow& row) {
  const CodeLevel code = row.code_tonight();
  const double left = row.stored.value - code.mean;
  const double variance = row.stored.variance + code.variance;
  stored_.learn(row, clipped(left, variance));
  if (!row.stored.is_known() || !row.is_code_known_tonight() || stored_.shift().is_new) return;
  NightNoise& noise = stored_.noise();
  noise.add(row.benchmark, left, variance / noise.of(row.benchmark).variance);
}

void SuiteJudge::estimate() {
  const auto count = static_cast<int>(nights_.size());
  if (count > kWeek && count % kWeek != 0) return;
  std::vector<double> log_ns;
  for (const Track& track : tracks_) log_ns.push_back(track.log_ns);
  replay_.noise().estimate(log_ns, std::numeric_limits<double>::infinity());
  stored_.estimate(log_ns);
  families_.estimate();
}

// Of members, those whose own sums alarm.
std::set<std::size_t> SuiteJudge::alarmed(const NightFamily& family, int direction) const {
  std::set<std::size_t> alarmed;
  for (const std::size_t member : family.members) {
    if (tracks_[member].cusum.alarm(options_.benchmarks) == direction) alarmed.insert(member);
  }
  return alarmed;
}

// Families whose sums alarm, and those of which two benchmarks do. The one of which most members
// moved is reported first, and who it names is reported no more.
void SuiteJudge::report_families(std::vector<ChangePoint>& reported) {
  std::set<std::size_t> taken;
  while (true) {
    std::optional<FamilyChange> best;
    const NightFamily* best_family = nullptr;
    for (NightFamily& family : families_.all()) {
      for (const int direction : {1, -1}) {
        const bool is_alarm = family.cusum.alarm(options_.families) == direction;
        if (!is_alarm && alarmed(family, direction).size() < 2) continue;
        auto change = date_family(family, tracks_, direction, taken);
        if (!change && is_alarm) family.cusum.reset();
        if (!change || (best && std::pair(change->share, change->movers.size()) <=
                                    std::pair(best->share, best->movers.size()))) {
          continue;
        }
        best = std::move(change);
        best_family = &family;
      }
    }
    if (!best) return;
    reported.push_back(describe(*best));
    reported.back().subject = best_family->name;
    for (const Mover& mover : best->movers) {
      taken.insert(mover.benchmark);
      accept(mover);
    }
  }
}

void SuiteJudge::report_benchmarks(std::vector<ChangePoint>& reported) {
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    const Track& track = tracks_[i];
    if (track.cusum.alarm(options_.benchmarks) == 0 || track.points().size() < 2) continue;
    const auto& points = track.points();
    const DatedChange dated =
        date_change(track.figures(), [&](std::size_t point) { return points[point].is_new_code; });
    reported.push_back(describe({.first_night = points[dated.first].night,
                                 .night_before = points[dated.first - 1].night,
                                 .effect = dated.effect,
                                 .variance = dated.variance,
                                 .movers = {{i, dated}}}));
    reported.back().subject = track.name();
    accept({i, dated});
  }
}

ChangePoint SuiteJudge::describe(const FamilyChange& change) const {
  const Night &before = *nights_[change.night_before], &after = *nights_[change.first_night];
  const double error = std::sqrt(change.variance);
  ChangePoint reported;
  reported.first_session = after.session;
  reported.last_session_before = before.session;
  reported.alarm_session = nights_.back()->session;
  reported.effect = std::expm1(change.effect);
  reported.low = std::expm1(change.effect - kNormal95 * error);
  reported.high = std::expm1(change.effect + kNormal95 * error);
  std::size_t with_new_code = 0, with_identity = 0;
  for (const Mover& mover : change.movers) {
    const Track& track = tracks_[mover.benchmark];
    reported.benchmarks.push_back(track.name());
    const std::size_t point = track.point_of(change.first_night);
    if (point < track.points().size() && track.points()[point].is_new_code) ++with_new_code;
    if (!track.identity.empty()) ++with_identity;
  }
  std::ranges::sort(reported.benchmarks);
  const EnvironmentChange environment = environment_change(before, after);
  const std::string commits = commits_between(before, after);
  if (2 * with_new_code >= change.movers.size()) {
    reported.of_class = ChangeClass::kCode;
    reported.reason = "identity changed" + (commits.empty() ? "" : ", " + commits);
  } else if (!environment.reason.empty()) {
    reported.of_class = environment.of_class;
    reported.reason = environment.reason;
  } else {
    reported.reason = (with_identity > 0 ? "identity is the same" : "identity is not known") +
                      (commits.empty() ? "" : ", " + commits);
  }
  return reported;
}

void SuiteJudge::accept(const Mover& mover) {
  Track& track = tracks_[mover.benchmark];
  const double before = track.code().mean;
  for (std::size_t i = mover.change.first; i < track.points().size(); ++i) {
    const Point& point = track.points()[i];
    const double amount =
        taken_by_level(point, before) - taken_by_level(point, mover.change.after.value);
    if (point.key >= ReplayFigures::kKeys) {
      replay_.take_back(point.key, mover.benchmark, amount);
    } else {
      stored_.take_back(point.key, mover.benchmark, amount);
    }
  }
  track.accept(mover.change);
  families_.reset(track);
}

std::vector<MissingData> SuiteJudge::undecided() const {
  std::vector<std::string> names;
  double largest = 0;
  for (const Track& track : tracks_) {
    if (track.is_control() || track.undecided_nights < kWeek) continue;
    names.push_back(track.name());
    largest = std::max(largest, track.standard_error);
  }
  if (names.empty()) return {};
  std::ranges::sort(names);
  const std::string why =
      largest > 0 ? fmt::format("standard errors are up to {:.1f} %, more than {:.1f} %",
                                100 * largest, 100 * options_.largest_standard_error)
                  : "nothing that they could be compared with was measured";
  const std::size_t before = nights_.size() > kWeek ? nights_.size() - 1 - kWeek : 0;
  return {{"undecided", nights_[before]->session,
           fmt::format("{} benchmark{} undecided for {} nights: {}", names.size(),
                       names.size() == 1 ? " is" : "s are", kWeek, why),
           "", names}};
}

}  // namespace fusegate::baselines
