// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LoopUI

/// The bytes that begin and end a link in a terminal: control string 8.
enum LinkBytes {
    /// The bytes after which letters have no link.
    static let end = "\u{1B}]8;;\u{1B}\\"

    /// Appends the bytes after which letters have the link of a number; without a number, or if nothing has kept the
    /// link, they have none.
    ///
    /// Pieces of a text that are written at different times are one link by their common identifier.
    static func append(_ number: UInt32, to bytes: inout [UInt8]) {
        guard number != 0, let address = Style.address(ofLink: number) else {
            bytes += Array(end.utf8)
            return
        }
        bytes += Array("\u{1B}]8;id=\(number);\(address)\u{1B}\\".utf8)
    }
}
