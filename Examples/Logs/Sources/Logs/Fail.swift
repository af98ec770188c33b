// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Ends the program before there is a screen, with a line for the user.
func fail(_ text: String, code: CInt) -> Never {
    let line = text + "\n"
    _ = line.utf8CString.withUnsafeBytes { write(code == 0 ? 1 : 2, $0.baseAddress, $0.count - 1) }
    exit(code)
}
