// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CALSA
import Glibc
import RunLoops
import RunLoopsEvents

/// A PCM that plays in the current thread's loop.
final class Player {
    private let pcm: OpaquePointer
    private var sound: ArraySlice<Int16>
    private var source: PollSource?
    /// How often the program was too late.
    private(set) var restarts = 0
    /// Called when the last frame was played.
    var whenPlayed: () -> Void = {}

    /// - Parameter sound: One channel, 48,000 frames a second.
    init(_ pcm: OpaquePointer, _ sound: [Int16]) throws {
        self.pcm = pcm
        self.sound = sound[...]
        try Failure.check(
            snd_pcm_set_params(pcm, SND_PCM_FORMAT_S16_LE, SND_PCM_ACCESS_RW_INTERLEAVED, 1, 48000, 1, 200_000))
        source = try PollSource(label: "ALSA") { wait in
            // ALSA starts to play when its buffer is full, so that the first part is written without waiting.
            wait.limit = snd_pcm_state(pcm) == SND_PCM_STATE_PREPARED ? .zero : nil
            let count = Int(snd_pcm_poll_descriptors_count(pcm))
            wait.descriptors = Array(repeating: pollfd(), count: max(0, count))
            snd_pcm_poll_descriptors(pcm, &wait.descriptors, UInt32(wait.descriptors.count))
        } dispatch: { [unowned self] descriptors in
            // What the kernel says of a descriptor is not what a PCM is ready for: ALSA translates, and a plug-in may
            // make its descriptors silent here.
            var (descriptors, events) = (descriptors, UInt16(0))
            snd_pcm_poll_descriptors_revents(pcm, &descriptors, UInt32(descriptors.count), &events)
            if snd_pcm_state(pcm) == SND_PCM_STATE_PREPARED || events & UInt16(POLLOUT | POLLERR) != 0 { play() }
        }
    }

    deinit { source?.invalidate() }

    /// Writes as much as there is room for.
    private func play() {
        let room = snd_pcm_avail_update(pcm)
        guard !sound.isEmpty else {
            if room < 0 || room >= bufferSize { end() }
            return
        }
        // A program that was late begins anew.
        guard room >= 0 else {
            restarts += 1
            snd_pcm_recover(pcm, CInt(room), 1)
            return
        }
        let count = sound.prefix(room).withUnsafeBufferPointer {
            snd_pcm_writei(pcm, $0.baseAddress, snd_pcm_uframes_t($0.count))
        }
        sound = sound.dropFirst(max(0, count))
        if sound.isEmpty, snd_pcm_state(pcm) == SND_PCM_STATE_PREPARED { snd_pcm_start(pcm) }
    }

    private var bufferSize: Int {
        var (buffer, period): (snd_pcm_uframes_t, snd_pcm_uframes_t) = (0, 0)
        snd_pcm_get_params(pcm, &buffer, &period)
        return Int(buffer)
    }

    private func end() {
        source?.invalidate()
        snd_pcm_drop(pcm)
        whenPlayed()
    }
}

/// What ALSA refused.
struct Failure: Error, CustomStringConvertible {
    let code: CInt
    var description: String { String(cString: snd_strerror(code)) }

    static func check(_ result: CInt) throws {
        if result < 0 { throw Failure(code: result) }
    }
}
