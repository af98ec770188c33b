// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The checked name of a published port, and the files that belong to the name.
internal import RunLoops

struct PortName: Hashable, Sendable {
    static let longest = 64
    let text: String

    init(_ text: String) throws(RunLoop.PortError) {
        // Nothing that could leave the directory, hide in it, or be misread on a terminal.
        let isName =
            1...Self.longest ~= text.utf8.count && text.utf8.first != UInt8(ascii: ".")
            && text.utf8.allSatisfy(Self.isAllowed)
        guard isName else { throw .invalidName(text) }
        self.text = text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    var socketFile: String { text + ".port" }
    /// The owner holds a lock on this file for as long as the name is published; the file has the number of the owner's
    /// process in it.
    var lockFile: String { text + ".lock" }
    /// The name of the socket until the socket listens.
    ///
    /// The kernel keeps the path as the address of the socket, and tells it to each process that connects. So it says what
    /// the port reads, without a packet that an older sender would not understand.
    var newFile: String { text + Self.newSuffix }
    /// The end of the path that a socket was bound to if its port reads version 2 of ``Frame``; it was `.new` before.
    static let newSuffix = ".new2"

    /// The name that a socket's file belongs to; nil for other files.
    init?(socketFile: String) {
        guard socketFile.hasSuffix(".port") else { return nil }
        do { try self.init(String(socketFile.dropLast(5))) } catch { return nil }
    }
}
