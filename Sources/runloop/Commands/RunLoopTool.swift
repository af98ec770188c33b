// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// The command-line tool: shows a loop at work.
///
/// Its arguments are few and read by hand: swift-argument-parser links FoundationEssentials, and this program is to
/// show that a loop needs none (Documentation/Decisions/0009-arguments-by-hand.md).
@main
struct RunLoopTool {
    static let usage = """
        OVERVIEW: Shows a run loop at work.

        USAGE: runloop <command>

        COMMANDS:
          demo        One loop on the main thread, with real input.
          describe    A small loop with an item of every kind, as its debugDescription lists it.
          port        Messages between processes, by name.
          ps          Which processes can be looked into, and what their loops are about.
          dump        Everything that the loops of a process hold, and what is under way in them.
          top         What the loops of a process do, as it changes.
          trace       Records what the run loops of a program or process do, and says in short what that was.
          doctor      Says in words what is wrong with a program, which it runs, or with a trace.

        runloop <command> --help says more about one, runloop --version which version this is.

        """

    static func main() {
        StandardInput.openClosedDescriptors()
        var arguments = Arguments(CommandLine.arguments.dropFirst())
        do {
            let command = arguments.next()
            switch command {
            case "demo": try DemoTool(&arguments).run()
            case "describe": try DescribeTool(&arguments).run()
            case "port": try PortTool(&arguments).run()
            case "ps": try PsTool(&arguments).run()
            case "dump": try DumpTool(&arguments).run()
            case "top": try TopTool(&arguments).run()
            case "trace": try TraceTool(&arguments).run()
            case "doctor": try DoctorTool(&arguments).run()
            case "--version": print(version)
            case "--help", "-h", "help": throw CommandEnd.help(usage)
            case nil: throw CommandEnd.misuse("a command is missing", usage)
            case let other?: throw CommandEnd.misuse("unknown command '\(other)'", usage)
            }
        } catch let end as CommandEnd {
            end.leave()
        } catch {
            CommandEnd.failure("\(error)").leave()
        }
    }
}
