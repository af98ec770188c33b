// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CLinuxKernel
internal import LinuxLibC
package import RunLoops
internal import RunLoopsSystem

/// Puts whole files in place of others.
package enum FileReplacement {
    /// Throws what would keep ``write(_:to:)`` from putting a file there, as far as this is known before: `EEXIST` for
    /// what is neither a regular file nor a link to one.
    package static func check(_ path: String) throws(RunLoop.SystemCallError) { _ = try existingMode(path) }

    /// Writes a file beside, and then gives it the name: a reader finds the old file or the new file, each whole.
    ///
    /// A link to a regular file is replaced itself, and its file stays: so nothing outside the folder is touched.
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

    /// The permissions of the file with that name, if there is one.
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

    /// Returns an error number, or 0.
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
