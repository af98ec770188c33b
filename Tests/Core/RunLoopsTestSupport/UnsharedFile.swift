// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file that is open for writing, and of which no child gets a copy.
///
/// A child that another test starts has copies of all descriptors of the thread that starts it, until the child executes its program.
/// The kernel reports that a file was closed when the last copy is closed, which may be after later changes of other files. This
/// file is open in a thread with a table of descriptors of its own.
package final class UnsharedFile: Sendable {
    private let text = Locked<String?>(nil)
    private let requests = Permit()
    private let thread: TestThread
    private let results: Permit

    /// Opens a file, or makes one, to write to its end; `nil` if the system refuses.
    ///
    /// - Parameter path: Ends with a zero.
    package init?(_ path: [CChar]) {
        let (text, requests, results) = (self.text, self.requests, Permit())
        let isOpen = Locked(false)
        self.results = results
        thread = TestThread {
            precondition(makeOwnDescriptors(), "unshare: errno \(errno)")
            let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            isOpen.withLock { $0 = file >= 0 }
            results.signal()
            while file >= 0 {
                requests.waitForEver()
                guard let text = text.copy else { break }
                let count = text.utf8.count
                let written = text.withCString { Glibc.write(file, $0, count) }
                precondition(written == count, "write: errno \(errno)")
                results.signal()
            }
            Glibc.close(file)
        }
        results.wait()
        if !isOpen.copy {
            thread.join()
            return nil
        }
    }

    package func write(_ text: String) {
        self.text.withLock { $0 = text }
        requests.signal()
        results.wait()
    }

    /// Returns when the kernel has reported that the file was closed; to be called once.
    package func close() {
        text.withLock { $0 = nil }
        requests.signal()
        thread.join()
    }
}
