// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// The names of the files in a folder, without those that begin with a dot.
func names(inFolder path: String) -> [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: path)
    return names?.filter { !$0.hasPrefix(".") } ?? []
}

/// Whether a file is there, and no program has it open for writing.
///
/// That is when the kernel grants a lease for reading. A writer that comes while the lease is held waits until the end
/// of this function, and the kernel sends this process `SIGIO`.
func isComplete(_ path: String) -> Bool {
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    if file < 0 { return false }
    defer { close(file) }
    // F_SETLEASE, which the C module does not export.
    return fcntl(file, 1024, Int32(F_RDLCK)) == 0
}

/// When the file's contents were last changed; `nil` if there is no such file.
func modificationDate(_ path: String) -> Date? {
    try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
}
