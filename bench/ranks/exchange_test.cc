#include "bench/ranks/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <thread>

#include "baselines/io/file_descriptor.h"

namespace fusegate::bench {
namespace {

using baselines::FileDescriptor;

TEST(Exchange, DeliversWholeMessagesOfAnySizeAndNoticesTheEnd) {
  std::array<int, 2> pair{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
  FileDescriptor one(pair[0]);
  const FileDescriptor other(pair[1]);
  const std::string large(5 << 20, 'x');
  std::jthread sender([&] {
    EXPECT_TRUE(send_message(one.get(), {"tensor", large}));
    EXPECT_TRUE(send_message(one.get(), {"wait", ""}));
    one.close();
  });
  EXPECT_EQ(receive_message(other.get())->text, large);
  EXPECT_EQ(receive_message(other.get())->what, "wait");
  EXPECT_FALSE(receive_message(other.get()));
  EXPECT_FALSE(send_message(other.get(), {"wait", ""}));
}

TEST(Exchange, PacksTextsWithAnyBytes) {
  const std::vector<std::string> texts{"", std::string("\0a", 2), "b"};
  EXPECT_EQ(unpack(pack(texts)), texts);
  EXPECT_THROW(unpack(pack(texts).substr(0, 9)), std::runtime_error);
  EXPECT_THROW(unpack("abc"), std::runtime_error);
}

}  // namespace
}  // namespace fusegate::bench
