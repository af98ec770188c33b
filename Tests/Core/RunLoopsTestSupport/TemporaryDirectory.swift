// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CTestCalls
import Glibc

/// A directory of its own below `/tmp`, for this user alone, which is removed with everything in it when the value is released.
///
/// An exit test that a trap or `exit` ends releases nothing: there the parent makes the directory.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() {
        var template = Array("/tmp/run-loops-tests-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { preconditionFailure("mkdtemp: errno \(errno)") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        // In C: the names in it are bytes, and need not be those of a String.
        _ = test_remove_tree(path)
    }

    package func path(_ name: String) -> String { "\(path)/\(name)" }
}
