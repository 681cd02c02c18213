#include "baselines/changes/judge_history.h"

#include <set>
#include <string>
#include <utility>

#include "baselines/history/change_id.h"

namespace fusegate::baselines {
namespace {

std::vector<MissingData> those_that_last(std::vector<MissingData> missing) {
  std::erase_if(missing, [](const MissingData& each) { return !each.until.empty(); });
  return missing;
}

}  // namespace

JudgedHistory judge_history(History& history, std::int64_t now_unix_s) {
  std::set<std::string> known;
  for (const StoredChangePoint& stored : history.change_points()) {
    known.insert(change_id(stored.point));
  }
  Judged judged = judge_nights(history.whole_nights(), now_unix_s);
  JudgedHistory found{.fresh = {}, .missing = those_that_last(std::move(judged.missing))};
  for (ChangePoint& point : judged.changes) {
    if (known.contains(change_id(point))) continue;
    history.add(point);
    found.fresh.push_back(std::move(point));
  }
  return found;
}

std::vector<MissingData> missing_now(const History& history, std::int64_t now_unix_s) {
  return those_that_last(judge_nights(history.whole_nights(), now_unix_s).missing);
}

}  // namespace fusegate::baselines
