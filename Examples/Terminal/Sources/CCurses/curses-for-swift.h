// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// Functions in place of macros: Swift sees no macro that takes arguments.
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1

#include <ncurses.h>
