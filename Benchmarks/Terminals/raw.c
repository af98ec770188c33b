// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The least that a program on a terminal can do: poll, read a key, write one line.
#include <poll.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

int main(void) {
    struct termios old, raw;
    tcgetattr(0, &old);
    raw = old;
    cfmakeraw(&raw);
    tcsetattr(0, TCSANOW, &raw);
    (void)!write(1, "\033[?1049h\033[2Jkeys: 0\r\n", 21);
    for (int count = 1;; count++) {
        struct pollfd input = {.fd = 0, .events = POLLIN};
        poll(&input, 1, -1);
        char key, line[64];
        if (read(0, &key, 1) != 1 || key == 'q') break;
        int length = snprintf(line, sizeof line, "\033[1;1Hkeys: %d, the last: %c", count, key);
        (void)!write(1, line, (size_t)length);
    }
    (void)!write(1, "\033[?1049l", 8);
    tcsetattr(0, TCSANOW, &old);
}
