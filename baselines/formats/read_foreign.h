// Other tools' files, known by their contents, not by name. Each becomes a ForeignFile, one
// process.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "baselines/formats/foreign_file.h"

namespace fusegate::baselines {

// Nothing where the text is of none of these tools; it may be Google Benchmark's. Takes the text
// otherwise. path: for messages; the samples of nvbench's --jsonbin lie beside it. Throws
// InputError naming file and field.
std::optional<ForeignFile> read_foreign(std::string& text, const std::filesystem::path& path);

}  // namespace fusegate::baselines
