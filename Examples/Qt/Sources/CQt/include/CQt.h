// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// What the program uses of Qt, for Swift. All of it on the main thread.

#ifndef CQT_H
#define CQT_H

#ifdef __cplusplus
extern "C" {
#endif

// A function of Swift's, which Qt calls on its thread.
typedef void (*ex_callback)(void);

// Watches a descriptor in Qt's event loop, as long as the application lives: calls one function when the descriptor is readable,
// and the other whenever Qt is about to wait.
void ex_watch(int descriptor, ex_callback is_readable, ex_callback is_about_to_wait);

// The application: made, run until somebody quits it, and deleted.
void ex_application_make(void);
int ex_application_run(void);
void ex_application_quit(void);
void ex_application_delete(void);

// A window with a line for the time, a button, and a line for the news.
void ex_window_show(const char *title, ex_callback clicked, void (*typed)(char key));
void ex_window_set_time(const char *text);
void ex_window_set_news(const char *text);
// Clicks the button.
void ex_window_click(void);

// Runs a modal dialog, in an event loop of its own inside the present one, until it is closed.
void ex_dialog_run(const char *text);
void ex_dialog_close(void);

// Calls a function later, by a timer of Qt's.
void ex_after(int milliseconds, ex_callback body);

#ifdef __cplusplus
}
#endif

#endif
