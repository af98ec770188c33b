// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import RunLoops
import RunLoopsConcurrency
import RunLoopsPorts

extension Scenes {
    /// Answers what another process asks of the port "numbers", in the directory that is the last argument.
    ///
    /// The number says how: the next one is the answer, 0 is dropped, -1 is kept for ever, -2 ends the process.
    @MainActor static func serve() async throws {
        let (port, messages) = try RunLoop.main.messages()
        try port.publish(as: "numbers", in: RunLoop.MessagePort.Directory(shared: CommandLine.arguments.last ?? ""))
        say("published")
        fflush(nil)
        // The one who reads what is said has gone: nobody will ask any more.
        try RunLoop.main.add(.mainActor(STDOUT_FILENO, for: []) { _, _ in exit(2) }, in: .common)
        var kept: [RunLoop.MessagePort.Message] = []
        for await message in messages {
            switch message.id {
            case 0: continue
            case -1: kept.append(message)
            case -2: _exit(0)
            default: try? message.replyTo?.send(RunLoop.MessagePort.Message(id: message.id + 1))
            }
        }
    }
}
