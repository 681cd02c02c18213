// All that the gate says, as a document.
#pragma once

#include <string>
#include <string_view>

#include "ci/document/document.h"
#include "ci/gate/gate_facts.h"

namespace fusegate::ci {

// GitHub refuses comments above 65,536 characters.
inline constexpr std::size_t kMarkdownLimit = 60'000;

// Headline, facts, notes, and the sections of verdicts and of models. Without a baseline it
// describes the candidate.
Document gate_document(std::string_view title, const GateFacts& facts);

// For a comparison that ended before any verdict.
Document failure_document(std::string_view title, std::string_view problem);

// "5 processes on NVIDIA H200, commit 0123456789ab with uncommitted changes,
// 2026-11-21T02:53:32+00:00"
std::string describe(const baselines::Run& run);

}  // namespace fusegate::ci
