// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CSDL
import RunLoops
import Synchronization

/// What a second costs in which nothing happens; a timer of SDL's, on SDL's own thread, begins and ends it.
enum Rest {
    /// Frames that were drawn.
    static let frames = Atomic<Int>(0)
    /// How often the loop was run by its host, or woke from its own sleep.
    private static let turns = Atomic<Int>(0)

    /// Counts the loop's turns from now on.
    @MainActor
    static func count() {
        let observer = RunLoop.Observer.mainActor([.entry, .afterWaiting]) { _, _ in
            turns.add(1, ordering: .relaxed)
        }
        RunLoop.main.add(observer, in: .common)
    }

    /// Begins the second when what is under way has ended; an event of the user's type ends it.
    static func begin() {
        _ = SDL_AddTimer(
            500,
            { interval, _ in
                if interval == 500 {
                    Rest.before = Rest.counts
                    // SDL calls a timer again after as many milliseconds as it returns.
                    return 1000
                }
                Rest.after = Rest.counts
                var event = SDL_Event()
                event.type = SDL_USEREVENT.rawValue
                SDL_PushEvent(&event)
                return 0
            }, nil)
    }

    /// Sends an event of the user's type later, by a timer of SDL's.
    static func wait(milliseconds: UInt32) {
        _ = SDL_AddTimer(
            milliseconds,
            { _, _ in
                var event = SDL_Event()
                event.type = SDL_USEREVENT.rawValue
                SDL_PushEvent(&event)
                return 0
            }, nil)
    }

    private static var counts: (frames: Int, turns: Int) {
        (frames.load(ordering: .relaxed), turns.load(ordering: .relaxed))
    }

    // The timer's thread writes both; the main thread reads them when the event has come, through SDL's locked queue.
    nonisolated(unsafe) private static var before = (frames: 0, turns: 0)
    nonisolated(unsafe) private static var after = (frames: 0, turns: 0)

    static var findings: String {
        let (frames, turns) = (after.frames - before.frames, after.turns - before.turns)
        // The timer may look between a run of the loop and the frame that follows it.
        let isRunAFrame = frames > 0 && abs(turns - frames) <= 1
        return isRunAFrame ? "a run of the loop each frame" : "\(frames) frames, \(turns) turns of the loop"
    }
}
