// Traces from files, packed or not.
#pragma once

#include <filesystem>
#include <string>

#include "baselines/traces/trace.h"

namespace fusegate::ci {

// JSON, or gzip of it, of fusegate's or PyTorch's (baselines/traces/reader.h). Throws InputError.
baselines::Trace read_trace_file(const std::filesystem::path& path);
// Its JSON, unpacked.
std::string read_trace_text(const std::filesystem::path& path);

}  // namespace fusegate::ci
