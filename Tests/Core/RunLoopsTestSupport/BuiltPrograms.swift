// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The programs that were built beside the tests.
package enum BuiltPrograms {
    /// The folder that has all of these programs; `nil` where there is none.
    package static func folder(with names: String...) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        // The test runner may be the toolchain's own: the bundle's place is in its arguments then, which may say it from a folder
        // that a test's program does not start in.
        let own = [String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)] + CommandLine.arguments
        let folders = own.compactMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }
        return folders.first { folder in names.allSatisfy { access("\(folder)/\($0)", X_OK) == 0 } }
    }

    /// The path of one program.
    package static func path(_ name: String) -> String? { folder(with: name).map { "\($0)/\(name)" } }
}
