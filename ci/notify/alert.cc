#include "ci/notify/alert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "baselines/history/text_hash.h"

namespace fusegate::ci {

std::string Alert::state() const {
  std::string said =
      fmt::format("{}\n{}\n{}\n{}", title, fmt::join(owners, " "), needs_action, gone);
  for (const Fact& fact : facts) said += fmt::format("\n{}: {}", fact.label, fact.text.text);
  return baselines::short_hash(said);
}

Alert alert_of(const baselines::MissingData& missing, const baselines::Settings& settings) {
  Alert alert{.kind = "missing",
              .id = baselines::short_hash(missing.what + '\n' + missing.since),
              .title = missing.text,
              .facts = {{"what is missing", missing.what}, {"since", missing.since}},
              .json = {{"what", missing.what}, {"since", missing.since}, {"text", missing.text}}};
  const std::string owner = baselines::settings_of(settings, missing.what).owner;
  if (!owner.empty()) alert.owners.insert(owner);
  return alert;
}

}  // namespace fusegate::ci
