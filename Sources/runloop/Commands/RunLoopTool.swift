import ArgumentParser

/// The command-line tool: shows a loop at work.
@main
struct RunLoopTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "runloop",
        abstract: "Shows a run loop at work.",
        subcommands: [DemoTool.self, DescribeTool.self])

    static func main() {
        StandardInput.openClosedDescriptors()
        main(nil)
    }
}
