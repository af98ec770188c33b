// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Window
internal import LoopUI
internal import RunLoops
internal import RunLoopsEvents
internal import RunLoopsLibC

/// Properties of the program that the windows of both kinds of servers show.
enum WindowProgram {
    /// The name that window managers and compositors know the program by.
    static var name: String {
        let path = CommandLine.arguments.first ?? ""
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        return name.isEmpty ? "LoopUI" : name
    }
}

extension DisplayAbilities {
    /// The abilities of a window.
    static var window: DisplayAbilities {
        var abilities = DisplayAbilities()
        abilities.reportsKeyEnds = true
        abilities.hasPictures = true
        abilities.reducesMotion = environmentValue("LOOPUI_REDUCE_MOTION") == "1"
        return abilities
    }
}

extension InputQueue {
    /// Has the signals that end a program end the application, while the returned sources are valid.
    func addTerminationSignals() throws -> [SignalSource] {
        var sources: [SignalSource] = []
        do {
            for signal in [SIGTERM, SIGINT, SIGHUP] {
                let source: SignalSource
                do {
                    source = try SignalSource(signal) { [weak self] _, _ in self?.push(.terminate(signal: signal)) }
                } catch {
                    throw WindowDisplayError.noSignal(signal)
                }
                sources.append(source)
                for mode in systemModes { try loop.add(source, in: mode) }
            }
        } catch {
            for source in sources { source.invalidate() }
            throw error
        }
        return sources
    }
}
#endif
