// Reads JSON texts too large for a tree, by simdjson's On-Demand API: values are taken one by one,
// in the order of the text, and what nobody asks for is passed over.
//
// It replaced a tokenizer of our own. fusegate_gate_speed on 10,000 benchmarks x 5, least of three
// on two shared cores: 1 sample a benchmark 1.13 s of processor time before and 1.11 s now, 3
// samples 1.52 s and 1.50 s, 10 samples (508 MB) 2.47 s and 2.27 s; peak memory 222 MB and 283 MB,
// as simdjson keeps 4 bytes for each bracket, comma, colon and value. A trace of 104 MB: 0.30 s and
// 0.33 s, 199 MB and 299 MB.
#pragma once

#include <simdjson.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace fusegate::baselines {

// Hands the value of the whole text to `read`, which lets simdjson's exceptions through. Throws
// InputError where the text is empty or, with field, line and column, is no JSON (RFC 8259). The
// text is not copied where it has room for simdjson's padding, as read_file()'s has.
void walk_json(std::string text, const std::string& source,
               const std::function<void(simdjson::ondemand::document&)>& read);

// The name of a member and the characters of a string. Each stays until the walk ends, and is a
// part of the text where nothing is escaped.
std::string_view key_of(simdjson::simdjson_result<simdjson::ondemand::field> field);
std::string_view text_of(simdjson::ondemand::value value);

// "a number", "true or false", ..., for messages.
std::string_view type_name(simdjson::ondemand::json_type type);

// Reads a value to its end, so that it breaks the walk where it is no JSON; what is merely passed
// over is held to quotes and brackets alone.
void check_json(simdjson::ondemand::value value);

// The tree of a part of the text, no deeper and no larger than json_field.h lets one be. A file of
// 80 MB with 3 kB of such parts a benchmark is read in 0.32 s; with nlohmann's parser for the parts
// it was 0.47 s.
nlohmann::json tree_of(simdjson::ondemand::value value);

}  // namespace fusegate::baselines
