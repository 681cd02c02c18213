// Streams the text of a run file, one entry at a time. A file of 10,000 benchmarks has tens of
// megabytes, and ten times that as a tree of JSON values; here only "context" and each entry's
// "details" become trees.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "baselines/record/entry_key.h"

namespace fusegate::baselines {

inline constexpr std::string_view kClockCounter = "sm_clock_hz";

// Whether fusegate's programs write a counter of this name. In other programs it may mean something
// else: "flops" is often a rate.
bool is_own_counter(std::string_view name);

using EntryCallback = std::function<void(const RunFileEntry&)>;

// Returns "context", null where there is none. Throws InputError naming source, field and, where
// the text is no JSON, line and column.
nlohmann::json parse_run_text(std::string text, const std::string& source,
                              const EntryCallback& on_entry);

}  // namespace fusegate::baselines
