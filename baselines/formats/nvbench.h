// What nvbench writes with --json and --jsonbin (https://github.com/NVIDIA/nvbench): a state is a
// benchmark, "name/axis:value/...". Its samples lie beside the file, in "FILE-bin" and
// "FILE-freqs-bin" as little-endian float32; without them the summaries' mean is the one sample. A
// skipped state is named, and one that ended in an exception failed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/formats/foreign_file.h"

namespace fusegate::baselines {

inline constexpr std::string_view kNvbenchMark = "meta";
inline constexpr int kNvbenchJsonVersion = 1;  // the major one; a larger one may mean other things

// Throws InputError naming file and field: of another form, states of several devices, some states
// with samples and some without, samples that are cut short.
ForeignFile read_nvbench(std::string text, const std::filesystem::path& path);

}  // namespace fusegate::baselines
