// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import LinuxLibC
package import RunLoops
internal import RunLoopsSystem

/// Writes files that replace existing files as a whole.
package enum FileReplacement {
    /// Throws an error that would keep ``write(_:to:)`` from writing the file, as far as this can be known before:
    /// `EEXIST` or `EISDIR` if something other than a regular file, or a link to one, has the name.
    package static func check(_ path: String) throws(RunLoop.SystemCallError) { _ = try existingMode(path) }

    /// Writes a new file under a temporary name, and then renames it: a reader finds either the whole old file or the
    /// whole new file.
    ///
    /// A link to a regular file is replaced itself, and the file that it points to stays unchanged: nothing outside the
    /// folder is touched.
    ///
    /// - Parameter mode: The permissions of a new file.
    package static func write(
        _ text: String, to path: String, mode: UInt32 = 0o644
    ) throws(RunLoop.SystemCallError) {
        let existing = try existingMode(path)
        let draft = "\(path).part-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        let descriptor = rl_open(draft, O_WRONLY | O_CREAT | O_EXCL, mode)
        guard descriptor >= 0 else { throw RunLoop.SystemCallError(call: "open", code: -descriptor) }
        defer { close(descriptor) }
        do throws(RunLoop.SystemCallError) {
            // A file that only its owner may read stays such a file.
            if let existing { _ = fchmod(descriptor, existing) }
            var text = text
            let code = text.withUTF8 { write($0, to: descriptor) }
            if code != 0 { throw RunLoop.SystemCallError(call: "write", code: code) }
            if rename(draft, path) != 0 { throw RunLoop.SystemCallError(call: "rename", code: errno) }
        } catch {
            unlink(draft)
            throw error
        }
    }

    /// Returns the permissions of the file with this name; `nil` if there is none.
    private static func existingMode(_ path: String) throws(RunLoop.SystemCallError) -> mode_t? {
        _ = try SystemText(path, for: "open")
        var status = stat()
        if stat(path, &status) == 0 {
            let kind = status.st_mode & S_IFMT
            guard kind == S_IFREG else {
                throw RunLoop.SystemCallError(call: "open", code: kind == S_IFDIR ? EISDIR : EEXIST)
            }
        }
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "."
        if access(folder, W_OK) != 0 { throw RunLoop.SystemCallError(call: "access", code: errno) }
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
