// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The variables of the environment that say what the terminal can do.
struct TerminalEnvironment {
    subscript(name: String) -> String? { getenv(name).map { String(cString: $0) } }

    var theme: Theme {
        // The first that is set decides, as in setlocale(3).
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { self[$0] }.first { !$0.isEmpty } ?? ""
        let isUnicode = locale.lowercased().contains("utf-8") || locale.lowercased().contains("utf8")
        // no-color.org: set and not empty.
        return Theme(hasColour: (self["NO_COLOR"] ?? "").isEmpty, hasUnicode: isUnicode)
    }
}
