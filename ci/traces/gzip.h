// Unpacks gzip, in which PyTorch writes most traces.
#pragma once

#include <string>
#include <string_view>

namespace fusegate::ci {

// By the first bytes, whatever the file is called.
bool is_gzip(std::string_view bytes);

// All members, one after the other (RFC 1952). Throws InputError naming the source where the bytes
// are damaged or end too early.
std::string gunzip(std::string_view bytes, std::string_view source);

}  // namespace fusegate::ci
