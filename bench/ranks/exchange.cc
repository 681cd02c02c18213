#include "bench/ranks/exchange.h"

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>

#include "baselines/io/file_descriptor.h"

namespace fusegate::bench {
namespace {

bool send_all(int socket, const void* data, std::size_t bytes) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent =
        baselines::uninterrupted([&] { return send(socket, from, bytes, MSG_NOSIGNAL); });
    if (sent <= 0) return false;
    from += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t bytes) {
  auto* to = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t received = baselines::uninterrupted([&] { return recv(socket, to, bytes, 0); });
    if (received <= 0) return false;
    to += received;
    bytes -= static_cast<std::size_t>(received);
  }
  return true;
}

using Sizes = std::array<std::uint64_t, 2>;

}  // namespace

bool send_message(int socket, const Message& message) {
  const Sizes sizes{message.what.size(), message.text.size()};
  return send_all(socket, sizes.data(), sizeof(sizes)) &&
         send_all(socket, message.what.data(), message.what.size()) &&
         send_all(socket, message.text.data(), message.text.size());
}

std::optional<Message> receive_message(int socket) {
  Sizes sizes{};
  if (!receive_all(socket, sizes.data(), sizeof(sizes))) return std::nullopt;
  Message message{std::string(sizes[0], '\0'), std::string(sizes[1], '\0')};
  if (!receive_all(socket, message.what.data(), message.what.size()) ||
      !receive_all(socket, message.text.data(), message.text.size())) {
    return std::nullopt;
  }
  return message;
}

std::string pack(const std::vector<std::string>& texts) {
  std::string packed;
  for (const std::string& text : texts) {
    const std::uint64_t size = text.size();
    packed.append(reinterpret_cast<const char*>(&size), sizeof(size));
    packed += text;
  }
  return packed;
}

std::vector<std::string> unpack(const std::string& packed) {
  std::vector<std::string> texts;
  std::span<const char> rest(packed);
  while (!rest.empty()) {
    std::uint64_t size = 0;
    if (rest.size() < sizeof(size)) throw std::runtime_error("texts of ranks: cut off");
    std::memcpy(&size, rest.data(), sizeof(size));
    rest = rest.subspan(sizeof(size));
    if (rest.size() < size) throw std::runtime_error("texts of ranks: cut off");
    texts.emplace_back(rest.data(), size);
    rest = rest.subspan(size);
  }
  return texts;
}

}  // namespace fusegate::bench
