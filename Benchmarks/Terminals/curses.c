// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The same with ncurses.
#include <curses.h>

int main(void) {
    initscr();
    raw();
    noecho();
    keypad(stdscr, TRUE);
    mvprintw(0, 0, "keys: 0");
    refresh();
    for (int count = 1;; count++) {
        int key = getch();
        if (key == 'q' || key == ERR) break;
        mvprintw(0, 0, "keys: %d, the last: %c", count, key);
        refresh();
    }
    endwin();
}
