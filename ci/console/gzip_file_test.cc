#include "ci/console/gzip_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"
#include "baselines/io/scratch_folder.h"

namespace fusegate::ci {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

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

class GzipFileTest : public ::testing::Test {
 protected:
  std::string read(const std::string& bytes) {
    baselines::write_atomically(path_, bytes);
    return read_unpacked(path_);
  }
  void expect_error(const std::string& bytes, const std::string& problem) {
    EXPECT_THAT([&] { read(bytes); },
                ThrowsMessage<baselines::InputError>(HasSubstr("a.json.gz: " + problem)))
        << bytes.size();
  }

  baselines::ScratchFolder folder_;
  std::filesystem::path path_ = folder_.path() / "a.json.gz";
};

TEST_F(GzipFileTest, UnpacksWhatWasPackedAndReadsWhatWasNot) {
  for (const std::string& text :
       {std::string("{}"), std::string(), std::string(3'000'000, 'a'), random_text(500'000)}) {
    EXPECT_EQ(read(packed(text)), text) << text.size();
    EXPECT_EQ(read(text), text) << text.size();
  }
  EXPECT_EQ(read(packed("{\"a\"") + packed(": 1}") + std::string(8, '\0')), "{\"a\": 1}")
      << "of several members";
}

TEST_F(GzipFileTest, SaysWhatIsDamagedOrEndsTooEarly) {
  std::string bytes = packed(random_text(100'000));
  for (const std::size_t size :
       {std::size_t{2}, std::size_t{10}, bytes.size() / 2, bytes.size() - 1}) {
    expect_error(bytes.substr(0, size), "the gzip data end too early");
  }
  bytes[bytes.size() - 8] ^= 1;  // the checksum
  expect_error(bytes, "no valid gzip data: incorrect data check");
}

TEST_F(GzipFileTest, UnpacksNoMoreThanTheLimit) {
  baselines::set_largest_file(200'000);
  EXPECT_EQ(read(packed(std::string(200'000, ' '))).size(), 200'000U);
  expect_error(packed(std::string(200'001, ' ')), "is larger than 0 MiB (unpacked)");
  expect_error(std::string(200'001, ' '), "is larger than");
  baselines::set_largest_file(baselines::kLargestFile);
}

TEST_F(GzipFileTest, NamesAFileThatCannotBeRead) {
  EXPECT_THAT([&] { read_unpacked(folder_.path() / "nowhere"); },
              ThrowsMessage<baselines::InputError>(HasSubstr("nowhere: cannot open: ")));
  EXPECT_THAT([&] { read_unpacked(folder_.path()); },
              ThrowsMessage<baselines::InputError>(HasSubstr(": cannot read: ")));
}

}  // namespace
}  // namespace fusegate::ci
