// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsKernel

/// The entries of directories, whose names may be as long as the kernel allows.
package enum DirectoryEntries {
    /// Calls `body` with each entry of an open directory except `.` and `..`, until `body` returns `false`.
    ///
    /// - Parameters:
    ///   - directory: The descriptor of the directory. Reading begins at its current offset.
    ///   - body: Receives the name, and whether the entry is a directory; a symbolic link to a directory is not.
    /// - Returns: 0, or a negative error number.
    /// - Complexity: O(n) in the entries, with one system call for each 8 KiB of entries, and one for each entry whose
    ///   kind the file system does not report (`DT_UNKNOWN`).
    package static func read(_ directory: CInt, _ body: (SystemText, _ isDirectory: Bool) -> Bool) -> CInt {
        withUnsafeTemporaryAllocation(byteCount: Int(RL_ENTRIES_ROOM), alignment: 8) { room in
            while true {
                let count = rl_directory_read(directory, room.baseAddress, room.count)
                if count <= 0 { return count }
                var place = 0
                var entry = rl_directory_entry()
                while case let result = rl_directory_next(room.baseAddress, Int(count), &place, &entry), result != 0 {
                    if result < 0 { return result }
                    // SAFETY: the name ends with a zero, inside the room.
                    let name = SystemText(cString: entry.name)
                    if name.bytes == [dot] || name.bytes == [dot, dot] { continue }
                    if !body(name, rl_directory_is_directory(directory, &entry)) { return 0 }
                }
            }
        }
    }

    private static let dot = UInt8(ascii: ".")
}
