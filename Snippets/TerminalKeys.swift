// Keys of a terminal in a task.

import RunLoops
import RunLoopsConcurrency
import RunLoopsTerminal

@main struct App {
    static func main() async throws {
        RunLoop.adoptMain()
        // snippet.KEYS
        let terminal = try RawTerminal([.paste])
        for await event in terminal.events() {
            switch event {
            case .key(let press) where press.key == .character("q"): terminal.close()
            case .key(let press): terminal.write("\(press.key)\n")
            case .paste(let text, _): terminal.write("\(text.count) characters pasted\n")
            case .resized(let size): terminal.write("\(size.columns) by \(size.rows)\n")
            default: break
            }
        }
        // snippet.end
    }
}
