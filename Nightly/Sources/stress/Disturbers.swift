// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import NightlyKit

/// Child processes that disturb this one: programs of the shell's, because a Swift process cannot fork.
final class Disturbers {
    private var children: [pid_t] = []

    /// Sends SIGUSR1 again and again; the handler does nothing, and system calls are not restarted.
    func signal(_ process: pid_t, aSecond: Int) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        sigaction(SIGUSR1, &action, nil)
        // As many as it can at each look, because a shell's sleep is coarse.
        start(
            "while kill -USR1 \(process) 2>/dev/null; do for i in 1 2 3 4 5 6 7 8 9 10; do kill -USR1 \(process) 2>/dev/null; done; sleep \(10.0 / Double(aSecond)); done"
        )
    }

    func stop(_ process: pid_t, aSecond: Int) {
        start(
            "while kill -STOP \(process) 2>/dev/null; do sleep 0.05; kill -CONT \(process); sleep \(1.0 / Double(aSecond)); done"
        )
    }

    func compute() { start("while :; do :; done") }

    /// Ends the children; the process goes on if one of them had stopped it.
    func end() {
        for child in children {
            kill(-child, SIGKILL)
            waitpid(child, nil, 0)
        }
        children = []
    }

    private func start(_ commands: String) {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        // A group of its own, to end it with all that it has started; and it ends by itself when this process does.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        posix_spawnattr_setpgroup(&attributes, 0)
        var words: [UnsafeMutablePointer<CChar>?] = (["sh", "-c", commands] as [String]).map { strdup($0) }
        words.append(nil)
        var child = pid_t()
        let result = posix_spawn(&child, "/bin/sh", nil, &attributes, &words, environ)
        precondition(result == 0, "no shell: error \(result)")
        for word in words { free(word) }
        children.append(child)
    }
}
