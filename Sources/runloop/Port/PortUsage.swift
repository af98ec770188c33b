// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// How `runloop port` is used, and what it says when it is used otherwise.
enum PortUsage {
    static let text = """
        OVERVIEW: Messages between processes of one user, by name.

        USAGE: runloop port listen <name> [--echo] [--count <number>] [--for <duration>] [--quiet]
               runloop port send <name> [<text> ...] [--id <number>] [--count <number>] [--reply] [--within <duration>]
               runloop port ls

        listen publishes a port and shows each message, until it is interrupted.
        send sends the words as one message; from standard input, one message a line, if there are none.
        ls lists the names that are published, and the processes that have them.

        OPTIONS:
          --echo                listen: reply with the same bytes.
          --count <number>      listen: end after so many messages. send: send so many, each with the next id.
          --for <duration>      listen: how long: 3s, 500ms, 1.5s, 2m.
          --quiet               listen: show the number of messages at the end alone.
          --id <number>         send: the message's id. (default: 0)
          --reply               send: wait for the reply to each message, and show it.
          --within <duration>   send: how long to wait, for each. (default: 10s)
          -h, --help            Show this.

        """

    static func unknown(_ word: String) -> CommandEnd { .misuse("unknown argument '\(word)'", text) }

    /// The whole number that belongs to the option `name`.
    static func number<Number: FixedWidthInteger>(_ arguments: inout Arguments, of name: String) throws -> Number {
        guard let word = arguments.next(), let number = Number(word) else {
            throw CommandEnd.misuse("\(name) needs a number", text)
        }
        return number
    }
}
