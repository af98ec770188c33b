import Glibc

/// The command-line tool: shows a loop at work.
///
/// Its arguments are few and read by hand: swift-argument-parser links FoundationEssentials, and this program is to show
/// that a loop needs none (Documentation/Decisions/0009-arguments-by-hand.md).
@main
struct RunLoopTool {
    static let usage = """
        OVERVIEW: Shows a run loop at work.

        USAGE: runloop <command>

        COMMANDS:
          demo        One loop on the main thread, with real input.
          describe    A small loop with an item of every kind, as its debugDescription lists it.

        runloop <command> --help says more about one.

        """

    static func main() {
        StandardInput.openClosedDescriptors()
        var arguments = Arguments(CommandLine.arguments.dropFirst())
        do {
            let command = arguments.next()
            switch command {
            case "demo": try DemoTool(&arguments).run()
            case "describe": try DescribeTool(&arguments).run()
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

/// How a command ends other than by being done.
enum CommandEnd: Error {
    /// Help was asked for.
    case help(String)
    /// The arguments are wrong; the usage says what is right.
    case misuse(String, String)
    /// It could not be done.
    case failure(String)
    /// With a status of its own.
    case status(CInt)

    func leave() -> Never {
        switch self {
        case .help(let usage):
            print(usage, terminator: "")
            exit(EXIT_SUCCESS)
        case .misuse(let complaint, let usage):
            say("Error: \(complaint)\n\n\(usage)")
            // EX_USAGE of sysexits.h.
            exit(64)
        case .failure(let complaint):
            say("Error: \(complaint)\n")
            exit(EXIT_FAILURE)
        case .status(let status):
            exit(status)
        }
    }

    private func say(_ text: String) {
        var text = text
        text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// The words of the command line that have not been read yet.
struct Arguments {
    private var words: ArraySlice<String>

    init(_ words: ArraySlice<String>) { self.words = words }

    /// The next word; `--name=value` counts as two.
    mutating func next() -> String? {
        guard let word = words.popFirst() else { return nil }
        guard word.hasPrefix("--"), let equals = word.firstIndex(of: "=") else { return word }
        words = [String(word[word.index(after: equals)...])] + words
        return String(word[..<equals])
    }

    /// The value that belongs to the option read last.
    mutating func duration(of option: String, usage: String) throws -> Duration {
        guard let word = words.popFirst() else {
            throw CommandEnd.misuse("\(option) needs a duration, such as 3s", usage)
        }
        guard let duration = DurationArgument.parse(word) else {
            throw CommandEnd.misuse("'\(word)' is not a duration, such as 3s, 500ms, 1.5s or 2m", usage)
        }
        return duration
    }
}
