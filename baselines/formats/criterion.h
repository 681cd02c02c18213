// What criterion leaves (https://bheisler.github.io/criterion.rs): under target/criterion a folder
// a benchmark, whose "new" holds benchmark.json, sample.json and estimates.json of its last
// process. So a process is such a tree of folders, kept under a name of its own.
#pragma once

#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "baselines/formats/foreign_file.h"

namespace fusegate::baselines {

// Keys of those files, by which one that is named alone is known.
inline constexpr std::array<std::string_view, 2> kCriterionMarks{"sampling_mode", "directory_name"};

// The trees at or below the folder, in the order of numbers in their names. Where a tree begins,
// its benchmarks tell by their "directory_name". Throws InputError where they do not lie as they
// tell.
std::vector<std::filesystem::path> criterion_trees(const std::filesystem::path& folder);

// Throws InputError naming file and field.
ForeignFile read_criterion(const std::filesystem::path& tree);

}  // namespace fusegate::baselines
