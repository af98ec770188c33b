// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import NightlyKit
import RunLoops

/// This program, started once more, with what it says.
final class Program {
    private let process: pid_t
    private let output: UnsafeMutablePointer<FILE>

    init(_ arguments: [String]) throws(RunLoop.SystemCallError) {
        // A file and not a pipe: nobody has to read while the program runs.
        guard let output = tmpfile() else { preconditionFailure("no file: error \(errno)") }
        self.output = output
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, fileno(output), STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, fileno(output), STDERR_FILENO)
        var words: [UnsafeMutablePointer<CChar>?] = ([CommandLine.arguments[0]] + arguments).map { strdup($0) }
        words.append(nil)
        var process = pid_t()
        let result = posix_spawn(&process, "/proc/self/exe", &actions, nil, &words, environ)
        for word in words { free(word) }
        posix_spawn_file_actions_destroy(&actions)
        self.process = process
        if result != 0 { throw RunLoop.SystemCallError(call: "posix_spawn", code: result) }
    }

    deinit { fclose(output) }

    /// Waits for the end; `nil` if it does not come: then the program is killed.
    func wait(_ patience: Patience) -> CInt? {
        var status: CInt = 0
        let end = patience.end
        while waitpid(process, &status, WNOHANG) == 0 {
            if RunLoop.Instant.now > end {
                kill(process, SIGKILL)
                waitpid(process, &status, 0)
                return nil
            }
            usleep(2000)
        }
        return status
    }

    /// What the program has said on both streams.
    var text: String {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = pread(fileno(output), &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
