// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

extension RunLoop {
    /// Traps unless this is a loop of the calling thread; called first by each public method of an object that belongs to the
    /// loop's thread.
    ///
    /// - Parameter object: A word for the object.
    func requireOwn(_ object: String) {
        // By the number: a test may have replaced the thread's loop.
        require(
            threadID == SystemCalls.threadID,
            "A \(object) was used by another thread than the one that made it: post the call with perform of that thread's loop."
        )
    }
}
