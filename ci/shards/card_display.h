// What the cards of a host report while they measure at once, as one: their lines with their names
// in front, and on a terminal one line of how far each is.
#pragma once

#include <list>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>
#include <utility>

#include "ci/console/console.h"

namespace fusegate::ci {

// The card's console is used by one thread at a time, the display by any.
class CardDisplay {
 public:
  // console: outlives this, and is printed to by nobody else meanwhile.
  explicit CardDisplay(Console& console) : console_(console) {}
  ~CardDisplay();
  CardDisplay(const CardDisplay&) = delete;  // cards' streams point at it
  CardDisplay& operator=(const CardDisplay&) = delete;

  // What a card prints there, results among it, are lines of console.err. Lives as long as this.
  Console& add_card(const std::string& name);
  void note(const std::string& line);

 private:
  // Cuts what a card's Output writes into lines and states of its status line.
  class CardStream : public std::streambuf {
   public:
    CardStream(CardDisplay& display, std::string name)
        : display_(display), name_(std::move(name)) {}

    const std::string& name() const { return name_; }
    const std::string& status() const { return status_; }  // the display's lock is held

   protected:
    int overflow(int c) override;
    int sync() override;

   private:
    CardDisplay& display_;
    std::string name_;
    std::string text_;    // that has no end yet
    std::string status_;  // what the card's last line would show
  };

  struct Card {
    Card(CardDisplay& display, const std::string& name) : buffer(display, name), stream(&buffer) {}

    CardStream buffer;
    std::ostream stream;
    Console console{stream, stream};
  };

  void print(const std::string& line);  // the lock is held
  void show_status();                   // likewise

  Console& console_;
  std::mutex mutex_;
  std::list<Card> cards_;
};

}  // namespace fusegate::ci
