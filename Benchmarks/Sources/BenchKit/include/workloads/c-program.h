// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// SwiftPM links every program with the Swift runtime. For a program in C that would be megabytes it never uses, so it
// asks the linker to leave out what is not needed. The request has to come before the libraries, where only the options
// stand that object files bring along; with it goes -nostartfiles in the manifest, which leaves out Swift's own start.

__attribute__((used, section(".swift1_autolink_entries"))) static const char link_only_what_is_needed[] =
    "-Wl,--as-needed";
