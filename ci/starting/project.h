// A starting project of somebody's own kernels, written from templates: files whose names end in
// ".template", and others, which are copied as they are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fusegate::ci {

// The folder's name as CMake and C++ take it: "My-kernels" is "my_kernels". Throws InputError where
// nothing of it can be in a name.
std::string project_name(const std::filesystem::path& folder);

// Writes the project into the folder and returns its files, sorted, as paths within it. In each,
// the name takes the place of "@project@". Throws InputError where the folder holds anything
// already, where there are no templates, and where a file cannot be written.
std::vector<std::filesystem::path> write_project(const std::filesystem::path& templates,
                                                 const std::filesystem::path& folder);

}  // namespace fusegate::ci
