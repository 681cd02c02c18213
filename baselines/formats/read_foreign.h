// Files that other tools wrote. Each is known by what it holds and not by its name. What a reader
// here makes of one is a ForeignFile, which is one process.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "baselines/formats/foreign_file.h"

namespace fusegate::baselines {

// Nothing where the text is of none of them (then it may be Google Benchmark's). It is taken where
// it is. path: the file's, for messages, and beside it lie the samples of nvbench's --jsonbin.
// Throws InputError naming file and field.
std::optional<ForeignFile> read_foreign(std::string& text, const std::filesystem::path& path);

}  // namespace fusegate::baselines
