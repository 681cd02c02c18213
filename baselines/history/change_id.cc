#include "baselines/history/change_id.h"

#include "baselines/history/text_hash.h"

namespace fusegate::baselines {

std::string change_id(const ChangePoint& point) {
  const std::string& found =
      point.alarm_session.empty() ? point.first_session : point.alarm_session;
  return short_hash(point.subject + '\n' + found);
}

}  // namespace fusegate::baselines
