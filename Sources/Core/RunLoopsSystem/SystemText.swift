// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

package import RunLoops
internal import RunLoopsLibC

/// A text for a system call, such as the name of a file: bytes without a zero, because C ends a text at a zero.
///
/// Names of files are bytes and not characters. Two names that are equal as `String`, such as an `é` in one scalar and
/// in two, are two files, and a name need not be UTF-8. Names of files and of environment variables are compared as
/// this type. The program passes every text to the system as this type: C would cut a `String` off at a zero character,
/// and the system would get another name.
package struct SystemText: Hashable, Sendable {
    /// The bytes, without a zero at the end.
    package let bytes: [UInt8]

    /// Makes an empty text.
    package init() { bytes = [] }

    /// Makes a text of bytes.
    ///
    /// - Returns: `nil` if a byte is zero.
    package init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        if bytes.contains(0) { return nil }
        self.bytes = bytes
    }

    /// Makes a text of the UTF-8 bytes of a string.
    ///
    /// - Returns: `nil` if a character is U+0000.
    package init?(_ text: String) { self.init(text.utf8) }

    /// Makes the text for the system call `call`, which is named in the error.
    ///
    /// - Throws: `EINVAL` if a character is U+0000.
    package init(_ text: String, for call: String) throws(RunLoop.SystemCallError) {
        try self.init(text.utf8, for: call)
    }

    /// Makes a text of bytes for the system call `call`, which is named in the error.
    ///
    /// - Throws: `EINVAL` if a byte is zero.
    package init(_ bytes: some Sequence<UInt8>, for call: String) throws(RunLoop.SystemCallError) {
        guard let checked = SystemText(bytes) else { throw RunLoop.SystemCallError(call: call, code: EINVAL) }
        self = checked
    }

    /// Copies a text that ends with a zero.
    package init(cString: UnsafePointer<CChar>) {
        let count = strlen(cString)
        bytes = cString.withMemoryRebound(to: UInt8.self, capacity: count) {
            Array(UnsafeBufferPointer(start: $0, count: count))
        }
    }

    /// Makes a text of the bytes before the first zero.
    package init(prefixOf bytes: some Sequence<UInt8>) { self.bytes = Array(bytes.prefix { $0 != 0 }) }

    package var isEmpty: Bool { bytes.isEmpty }

    /// The text as a `String`, for people and for the public interface; bytes that are not UTF-8 become U+FFFD.
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

    /// Returns the absolute path of the same file; it stays valid until a directory on the path is renamed.
    ///
    /// An empty path, which leads nowhere, stays empty.
    /// - Throws: The error of `getcwd(3)`: `ENOENT` if this process's directory was removed.
    package func madeAbsolute() throws(RunLoop.SystemCallError) -> SystemText {
        if isAbsolute || isEmpty { return self }
        // The path of a directory may be longer than a call takes (PATH_MAX).
        guard let directory = getcwd(nil, 0) else { throw RunLoop.SystemCallError(call: "getcwd", code: errno) }
        defer { free(directory) }
        return SystemText(cString: directory).entry(self)
    }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }
}
