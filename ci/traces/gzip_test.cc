#include "ci/traces/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "baselines/io/error.h"

namespace fusegate::ci {
namespace {

using ::testing::HasSubstr;

std::string packed(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(bytes.size() - stream.avail_out);
  deflateEnd(&stream);
  return bytes;
}

std::string random_text(std::size_t size) {
  std::mt19937 engine(5);
  std::string text;
  while (text.size() < size) text += static_cast<char>(engine());
  return text;
}

std::string error_of(const std::string& bytes) {
  try {
    gunzip(bytes, "a.json.gz");
  } catch (const baselines::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Gzip, UnpacksWhatWasPacked) {
  for (const std::string& text :
       {std::string("{}"), std::string(), std::string(3'000'000, 'a'), random_text(500'000)}) {
    EXPECT_EQ(gunzip(packed(text), "a.json.gz"), text) << text.size();
  }
}

TEST(Gzip, UnpacksAllMembers) {
  EXPECT_EQ(gunzip(packed("{\"a\"") + packed(": 1}") + std::string(8, '\0'), "a.json.gz"),
            "{\"a\": 1}");
}

TEST(Gzip, IsToldByItsFirstBytes) {
  EXPECT_TRUE(is_gzip(packed("")));
  EXPECT_FALSE(is_gzip("{}"));
  EXPECT_FALSE(is_gzip(""));
}

TEST(Gzip, SaysWhereItEndsTooEarly) {
  const std::string bytes = packed(random_text(100'000));
  for (const std::size_t size :
       {std::size_t{2}, std::size_t{10}, bytes.size() / 2, bytes.size() - 1}) {
    EXPECT_EQ(error_of(bytes.substr(0, size)), "a.json.gz: the gzip data end too early") << size;
  }
}

TEST(Gzip, SaysWhatIsDamaged) {
  std::string bytes = packed("some text");
  bytes[bytes.size() - 8] ^= 1;  // the checksum
  EXPECT_THAT(error_of(bytes), HasSubstr("a.json.gz: no valid gzip data: incorrect data check"));
  EXPECT_THAT(error_of(packed("a") + "b"), HasSubstr("something that is no gzip data follows"));
}

}  // namespace
}  // namespace fusegate::ci
