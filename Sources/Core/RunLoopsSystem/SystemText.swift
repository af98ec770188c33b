// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import LinuxLibC
package import RunLoops

/// A text for the system, or the name of a file: bytes without a zero, at which C ends a text.
///
/// Names of files are bytes and not characters. Two names that are equal as `String`, such as an `é` in one scalar and in two, are two
/// files, and a name need not be UTF-8. Keys over names of files and of environment variables have this type, and every text of the
/// program goes to the system through it: C would cut a text at a zero, and the system would take another name.
package struct SystemText: Hashable, Sendable {
    /// The bytes, without a zero at the end.
    package let bytes: [UInt8]

    /// Makes an empty text.
    package init() { bytes = [] }

    /// - Returns: `nil` if a byte is zero.
    package init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        if bytes.contains(0) { return nil }
        self.bytes = bytes
    }

    /// - Returns: `nil` if a character is U+0000.
    package init?(_ text: String) { self.init(text.utf8) }

    /// The text of a program for one call of the system.
    ///
    /// - Throws: `EINVAL` if a character is U+0000.
    package init(_ text: String, for call: String) throws(RunLoop.SystemCallError) {
        try self.init(text.utf8, for: call)
    }

    /// Bytes of a program for one call of the system.
    ///
    /// - Throws: `EINVAL` if a byte is zero.
    package init(_ bytes: some Sequence<UInt8>, for call: String) throws(RunLoop.SystemCallError) {
        guard let checked = SystemText(bytes) else { throw RunLoop.SystemCallError(call: call, code: EINVAL) }
        self = checked
    }

    /// A copy of a text that ends with a zero.
    package init(cString: UnsafePointer<CChar>) {
        let count = strlen(cString)
        bytes = cString.withMemoryRebound(to: UInt8.self, capacity: count) {
            Array(UnsafeBufferPointer(start: $0, count: count))
        }
    }

    /// The bytes before the first zero.
    package init(prefixOf bytes: some Sequence<UInt8>) { self.bytes = Array(bytes.prefix { $0 != 0 }) }

    package var isEmpty: Bool { bytes.isEmpty }

    /// The text for people and for a `String` of the public interface; bytes that are not UTF-8 become U+FFFD.
    package var decoded: String { String(decoding: bytes, as: UTF8.self) }

    /// Calls `body` with the bytes and a zero at the end.
    package func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count + 1) { room in
            _ = room.initialize(from: bytes)
            room[bytes.count] = 0
            let start = room.baseAddress.unsafelyUnwrapped
            return start.withMemoryRebound(to: CChar.self, capacity: room.count) { body($0) }
        }
    }
}

// MARK: Paths

extension SystemText {
    private static let slash = UInt8(ascii: "/")

    /// Whether the path begins in the root directory.
    package var isAbsolute: Bool { bytes.first == Self.slash }

    /// The path to the entry `name` of the directory at this path.
    package func entry(_ name: SystemText) -> SystemText {
        var path = self
        path.append(name)
        return path
    }

    /// Appends `name` to this path of a directory, so that the path leads to the entry `name` in the directory.
    package mutating func append(_ name: SystemText) {
        self = SystemText(unchecked: bytes + (bytes.last == Self.slash ? [] : [Self.slash]) + name.bytes)
    }

    /// The names between the slashes, without empty ones.
    package var names: [SystemText] { bytes.split(separator: Self.slash).map { SystemText(unchecked: Array($0)) } }

    /// The same path from the root directory on, as long as nobody renames a directory on the way.
    ///
    /// An empty path, which leads nowhere, stays empty.
    /// - Throws: What `getcwd(3)` refuses: `ENOENT` if this process's directory was removed.
    package func madeAbsolute() throws(RunLoop.SystemCallError) -> SystemText {
        if isAbsolute || isEmpty { return self }
        // The path of a directory may be longer than a call takes (PATH_MAX).
        guard let directory = getcwd(nil, 0) else { throw RunLoop.SystemCallError(call: "getcwd", code: errno) }
        defer { free(directory) }
        return SystemText(cString: directory).entry(self)
    }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }
}
