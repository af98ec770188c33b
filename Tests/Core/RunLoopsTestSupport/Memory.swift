// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The memory of this process that is resident, by the second number of `statm`.
package func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "re") else { return 0 }
    defer { fclose(file) }
    var pages = 0
    _ = withUnsafeMutablePointer(to: &pages) { pages in withVaList([pages]) { vfscanf(file, "%*d %ld", $0) } }
    return pages * Int(getpagesize())
}
