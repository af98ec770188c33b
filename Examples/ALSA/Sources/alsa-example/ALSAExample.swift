// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// ALSA in a run loop: half a second of sound, then rest.
//
//   alsa-example         on a card made of a timer
//   alsa-example PCM     on a PCM of ALSA's, such as default or null

import CALSA
import Glibc
import RunLoops
import RunLoopsEvents

@main struct ALSAExample {
    static func main() throws {
        let before = try Rest.countDescriptors()
        if let name = CommandLine.arguments.dropFirst().first {
            var pcm: OpaquePointer?
            try Failure.check(snd_pcm_open(&pcm, name, SND_PCM_STREAM_PLAYBACK, SND_PCM_NONBLOCK))
            try play(pcm.unsafelyUnwrapped, length: .zero)
            snd_pcm_close(pcm)
        } else {
            let card = try TimerCard()
            try play(card.pcm, length: .milliseconds(500))
        }
        // ALSA keeps what it has read of its configuration.
        snd_config_update_free_global()
        print("descriptors left open: \(try Rest.countDescriptors() - before)")
    }

    private static func play(_ pcm: OpaquePointer, length: Duration) throws {
        let sound = (0..<24_000).map { Int16(10_000 * sin(Double($0) * 440 * 2 * .pi / 48_000)) }
        let player = try Player(pcm, sound)
        player.whenPlayed = { RunLoop.current.stop() }
        var wakes = 0
        let observer = RunLoop.Observer(.afterWaiting) { _, _ in wakes += 1 }
        RunLoop.current.add(observer, in: .default)
        let start = RunLoop.Instant.now
        let result = RunLoop.current.run(in: .default, for: .seconds(600))
        let time = RunLoop.Instant.now - start
        observer.invalidate()
        print("run: \(result)")
        print("too early: \(time < length)")
        // A program that is late begins anew.
        print("wake-ups for ten periods: \(wakes > 15 * (player.restarts + 1) ? "\(wakes)" : "15 or less")")
        print("wake-ups in a quiet second: \(Rest.countWakes())")
    }
}
