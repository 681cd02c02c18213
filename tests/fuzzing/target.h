// What a fuzz target is made of: a function that takes any bytes, hands them to a reader, and ends
// the program where that does anything but read them or refuse them in plain words. libFuzzer or
// replay_main.cc calls it, so that one file serves both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "baselines/io/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fusegate::tests {

// Stands in messages for the file.
inline const std::string kFuzzed = "fuzzed.json";

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return std::string(data, data + size);
}

// Ends the program where it is not kept.
void promise(bool kept, std::string_view what);

// What was read, or nothing where the input was refused: by an InputError that names the source,
// and by nothing else.
template <typename Read>
auto read_or_refuse(std::string_view source, const Read& read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const baselines::InputError& error) {
    promise(std::string_view(error.what()).find(source) != std::string_view::npos,
            "a message names the file");
    return std::nullopt;
  }
}

}  // namespace fusegate::tests
