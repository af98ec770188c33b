// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import RunLoops

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What a key does.
enum DemoCommand: Unicode.Scalar, CaseIterable {
    case mode = "m"
    case block = "p"
    case signal = "s"
    case dispatch = "d"
    case mainActor = "a"
    case nested = "n"
    case slow = "z"
    case stop = "x"
    case quit = "q"

    /// What the bar at the bottom says: so short that all of it fits into 80 columns.
    var title: String {
        switch self {
        case .mode: "mode"
        case .block: "block"
        case .signal: "signal"
        case .dispatch: "queue"
        case .mainActor: "actor"
        case .nested: "nested"
        case .slow: "slow"
        case .stop: "stop"
        case .quit: "quit"
        }
    }
}

/// What input and signals cause. Everything here is called by the loop, on the main actor.
extension Demo {
    /// Bytes of standard input, or their end.
    func take(_ chunk: StandardInput.Chunk) {
        switch chunk {
        case .bytes(let bytes) where options.isInteractive:
            for key in keys.take(bytes) {
                record(.callout(.key(key.name)))
                if case .character(let scalar) = key, let command = DemoCommand(rawValue: scalar) { perform(command) }
            }
        case .bytes(let bytes):
            let complete = lines.take(bytes)
            if complete.isEmpty { record(.callout(.inputChunk(bytes.count))) }
            for line in complete where !isEnding { take(line: line) }
        case .end:
            if let rest = lines.finish() { take(line: rest) }
            record(.callout(.inputEnd))
            // With a time to fill, the end of input is one event among others.
            if options.isInteractive || options.length == nil { end() }
        }
    }

    /// A signal of the system's.
    func take(signal: CInt) {
        record(.callout(.systemSignal(SystemSignals.name(signal))))
        switch signal {
        case SIGWINCH:
            output.invalidate()
        case SIGTSTP:
            output.suspend()
            SystemSignals.stopProcess()
            output.resume()
        case SIGCONT:
            // Also after SIGSTOP, which no process can notice: the shell has had the terminal meanwhile.
            output.resume()
        default:
            endingSignal = signal
            end()
        }
    }

    // MARK: One thing each

    /// Posts a block to the loop, for any common mode; the block posts another.
    ///
    /// The first runs at the end of this turn. The second was added in the middle of that drain, so it waits for the
    /// next one, at step 4. There is no need to wake the loop: it is in a callout, hence awake.
    func postBlock(by sender: Sender) {
        RunLoop.performOnMainActor(in: .common) { [self] in
            record(.callout(.block(by: sender)))
            RunLoop.performOnMainActor(in: .common) { [self] in record(.callout(.block(by: .block))) }
        }
    }

    /// Puts a block on the main dispatch queue.
    func dispatch(by sender: Sender) {
        DispatchQueue.main.async { [self] in record(.callout(.mainQueue(by: sender))) }
    }

    private func take(line: String) {
        record(.callout(.inputLine(line)))
        if line == String(DemoCommand.quit.rawValue) { end() }
    }

    private func perform(_ command: DemoCommand) {
        let sender = Sender.key(command.rawValue)
        switch command {
        case .mode:
            change(to: mode == .default ? .tracking : .default)
        case .block:
            postBlock(by: sender)
        case .signal:
            signallers.add(sender)
            source.signal()
        case .dispatch:
            dispatch(by: sender)
        case .mainActor:
            Task { @MainActor in record(.callout(.mainActor(by: sender))) }
        case .nested:
            // From a block, so that the source of the keys is not in the middle of a callout while the inner run wants
            // it.
            RunLoop.performOnMainActor(in: .common) { [self] in
                record(.callout(.block(by: sender)))
                runNested()
            }
        case .slow:
            isSlow.toggle()
            output.isSlow = isSlow
        case .stop:
            loop.stop()
        case .quit:
            end()
        }
    }

    /// The thread does nothing for a moment.
    func pause(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        var rest = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        // Cut short by a signal is good enough.
        nanosleep(&rest, nil)
    }
}
