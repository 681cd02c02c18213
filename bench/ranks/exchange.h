// Messages between two processes over a socket.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fusegate::bench {

struct Message {
  std::string what;  // what it is for: both sides must be at the same point
  std::string text;
};

// Writes or reads one whole message, and waits for that. false, or nothing: the other process has
// ended.
bool send_message(int socket, const Message& message);
std::optional<Message> receive_message(int socket);

// Texts in one, and back. Throws std::runtime_error for a text that was not made by the first.
std::string pack(const std::vector<std::string>& texts);
std::vector<std::string> unpack(const std::string& packed);

}  // namespace fusegate::bench
