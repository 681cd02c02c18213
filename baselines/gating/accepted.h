// Slowdowns that a team accepts for a while, in a file beside the baselines that is reviewed as
// code is:
//
//   [{"pattern": "^geglu_mlp/fused/", "effect": [0.01, 0.04], "reason": "exact gelu", "who": "ann",
//     "until": "2026-12-31", "link": "https://github.com/org/kernels/pull/7"}]
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/comparing/verdict.h"

namespace fusegate::baselines {

inline constexpr const char* kAcceptedFile = "accepted.json";

// Throws InputError naming file and field: an unknown key, one that is missing (but "link"), a
// pattern that is none or is there twice, a range that is none, or a date that is none.
std::vector<AcceptedSlowdown> read_accepted(const std::filesystem::path& path);
std::vector<AcceptedSlowdown> parse_accepted(std::string_view text, const std::string& source);

// As the file has them, a key a line.
std::string accepted_text(const std::vector<AcceptedSlowdown>& entries);

// Of "2026-12-31"; nothing for any other text.
std::optional<std::chrono::sys_days> parse_day(const std::string& text);

bool is_expired(const AcceptedSlowdown& entry, std::chrono::sys_seconds now);

// What of the file is to be changed.
struct AcceptedReview {
  std::vector<AcceptedSlowdown> expired{};
  // Nothing that fits is as slow as they say, and all of it was decided by its times.
  std::vector<AcceptedSlowdown> outlived{};
};

// Sets the accepted slowdown of each verdict that is a regression or undecided: of the entries that
// fit, one that covers it, or else the one of the longest pattern. An entry covers what it fits
// until it expires, where the effect, as estimated, is no larger than its range.
AcceptedReview apply_accepted(const std::vector<AcceptedSlowdown>& entries,
                              std::chrono::sys_seconds now, std::vector<Verdict>& verdicts);

}  // namespace fusegate::baselines
