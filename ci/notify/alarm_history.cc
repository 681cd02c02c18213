#include "ci/notify/alarm_history.h"

#include <algorithm>
#include <ctime>
#include <map>

#include "baselines/changes/judge_history.h"
#include "baselines/history/change_id.h"
#include "baselines/history/history.h"
#include "baselines/io/error.h"

namespace fusegate::ci {

using baselines::ChangePoint;
using baselines::DatabaseUse;
using baselines::StoredChangePoint;

struct AlarmHistory::Impl {
  baselines::History history;
};

AlarmHistory::AlarmHistory(const std::filesystem::path& path, bool writes) {
  if (!std::filesystem::exists(path)) {
    throw baselines::InputError(path.string(), "", "does not exist; name the history with --db");
  }
  impl_ = std::make_unique<Impl>(
      baselines::History(path, writes ? DatabaseUse::kWrite : DatabaseUse::kRead));
}
AlarmHistory::~AlarmHistory() = default;

std::vector<ChangePoint> AlarmHistory::change_points() const {
  std::map<std::string, std::size_t> order;
  for (const baselines::Night& night : impl_->history.nights()) {
    order.emplace(night.session, order.size());
  }
  std::vector<ChangePoint> points;
  for (StoredChangePoint& stored : impl_->history.change_points()) {
    points.push_back(std::move(stored.point));
  }
  std::ranges::stable_sort(points, {},
                           [&](const ChangePoint& point) { return order[point.first_session]; });
  return points;
}

std::vector<baselines::MissingData> AlarmHistory::missing() const {
  return baselines::missing_now(impl_->history, std::time(nullptr));
}

baselines::Settings AlarmHistory::settings() const { return impl_->history.settings(); }

ReportedBefore AlarmHistory::reported_before() {
  baselines::History& history = impl_->history;
  return {.recall = [&](const std::string& key) { return history.state(key); },
          .keep = [&](const std::string& key,
                      const std::string& news) { history.set_state(key, news); }};
}

std::optional<ChangePoint> AlarmHistory::mark(const std::string& id, bool is_true,
                                              const std::string& note) {
  for (const StoredChangePoint& stored : impl_->history.change_points()) {
    if (change_id(stored.point) != id) continue;
    impl_->history.set_is_true(stored.id, is_true);
    if (!note.empty()) impl_->history.set_state("triage/" + id + "/note", note);
    return stored.point;
  }
  return std::nullopt;
}

}  // namespace fusegate::ci
