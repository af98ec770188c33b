// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel
package import RunLoops
internal import RunLoopsLibC
package import RunLoopsSystem

/// Writes files that replace existing files as a whole.
package enum FileReplacement {
    /// Throws an error that would keep ``write(_:to:)`` from writing the file, as far as this can be known before:
    /// `EEXIST` or `EISDIR` if something other than a regular file, or a link to one, has the name.
    package static func check(_ path: SystemText) throws(RunLoop.SystemCallError) { _ = try existingMode(path) }

    /// Writes a new file under a temporary name, and then renames it: a reader finds either the whole old file or the
    /// whole new file.
    ///
    /// If the name is a symbolic link to a regular file, the link is replaced, and the file that it leads to stays
    /// unchanged, so that nothing outside the folder is touched.
    ///
    /// - Parameter mode: The permissions of a new file.
    package static func write(
        _ text: String, to path: String, mode: UInt32 = 0o644
    ) throws(RunLoop.SystemCallError) {
        try write(text, to: SystemText(path, for: "open"), mode: mode)
    }

    /// As the other, for a path that need not be UTF-8.
    package static func write(_ text: String, to path: SystemText, mode: UInt32 = 0o644) throws(RunLoop.SystemCallError)
    {
        let existing = try existingMode(path)
        let draft = SystemText(prefixOf: path.bytes + ".part-\(String(UInt64.random(in: 0 ... .max), radix: 36))".utf8)
        let descriptor = draft.withCString { rl_open($0, O_WRONLY | O_CREAT | O_EXCL, mode) }
        guard descriptor >= 0 else { throw refusal("open", -descriptor, path) }
        defer { close(descriptor) }
        do throws(RunLoop.SystemCallError) {
            // A file that only its owner may read stays such a file.
            if let existing { _ = fchmod(descriptor, existing) }
            var text = text
            let code = text.withUTF8 { write($0, to: descriptor) }
            if code != 0 { throw refusal("write", code, path) }
            if draft.withCString({ draft in path.withCString { rename(draft, $0) } }) != 0 {
                throw refusal("rename", errno, path)
            }
        } catch {
            _ = draft.withCString { unlink($0) }
            throw error
        }
    }

    private static func refusal(_ call: String, _ code: CInt, _ path: SystemText) -> RunLoop.SystemCallError {
        RunLoop.SystemCallError(call: call, code: code, subject: path.decoded)
    }

    /// Returns the permissions of the file with this name; `nil` if there is none.
    private static func existingMode(_ path: SystemText) throws(RunLoop.SystemCallError) -> mode_t? {
        var status = stat()
        if path.withCString({ stat($0, &status) }) == 0 {
            let kind = status.st_mode & S_IFMT
            guard kind == S_IFREG else {
                throw refusal("open", kind == S_IFDIR ? EISDIR : EEXIST, path)
            }
        }
        let slash = path.bytes.lastIndex(of: UInt8(ascii: "/"))
        let folder = SystemText(prefixOf: slash.map { path.bytes[...$0] } ?? [UInt8(ascii: ".")])
        if folder.withCString({ access($0, W_OK) }) != 0 { throw refusal("access", errno, path) }
        return status.st_mode == 0 ? nil : status.st_mode & 0o777
    }

    /// Writes all bytes to a descriptor; returns 0 or an error number.
    private static func write(_ bytes: UnsafeBufferPointer<UInt8>, to descriptor: CInt) -> CInt {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rl_write(descriptor, UnsafeBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0 { return -count }
            rest = rest.dropFirst(Int(count))
        }
        return 0
    }
}
