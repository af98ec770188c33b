// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CALSA
import Glibc

/// A sound card for machines that have none: a timer of the kernel plays, a period each time it fires.
///
/// It is a plug-in of ALSA's, and for a program like any other PCM. Its descriptor becomes readable when there is room, and
/// the card translates that into what a program that writes waits for.
final class TimerCard {
    private let plug = UnsafeMutablePointer<snd_pcm_ioplug_t>.allocate(capacity: 1)
    private let callbacks = UnsafeMutablePointer<snd_pcm_ioplug_callback_t>.allocate(capacity: 1)
    /// How many frames were played.
    private var position = 0
    /// How many frames were written.
    private var written = 0

    private var timer: CInt { plug.pointee.poll_fd }
    var pcm: OpaquePointer { plug.pointee.pcm }

    init() throws {
        plug.initialize(to: snd_pcm_ioplug_t())
        callbacks.initialize(to: snd_pcm_ioplug_callback_t())
        callbacks.pointee.prepare = { plug in
            (TimerCard.of(plug).position, TimerCard.of(plug).written) = (0, 0)
            return 0
        }
        callbacks.pointee.start = { TimerCard.of($0).start() }
        callbacks.pointee.stop = { TimerCard.of($0).set(every: 0) }
        callbacks.pointee.pointer = { TimerCard.of($0).place() }
        callbacks.pointee.transfer = { plug, _, _, count in
            TimerCard.of(plug).written += Int(count)
            return snd_pcm_sframes_t(count)
        }
        callbacks.pointee.poll_revents = { plug, _, _, events in
            events.unsafelyUnwrapped.pointee = TimerCard.of(plug).advance() ? UInt16(POLLOUT) : 0
            return 0
        }
        plug.pointee.version = ex_ioplug_version
        plug.pointee.name = ex_card_name
        plug.pointee.callback = UnsafePointer(callbacks)
        plug.pointee.poll_fd = timerfd_create(CLOCK_MONOTONIC, CInt(TFD_CLOEXEC | TFD_NONBLOCK))
        plug.pointee.poll_events = UInt32(POLLIN)
        plug.pointee.private_data = Unmanaged.passUnretained(self).toOpaque()
        try Failure.check(snd_pcm_ioplug_create(plug, "timer", SND_PCM_STREAM_PLAYBACK, SND_PCM_NONBLOCK))
        try allow(SND_PCM_IOPLUG_HW_ACCESS, [SND_PCM_ACCESS_RW_INTERLEAVED.rawValue])
        try allow(SND_PCM_IOPLUG_HW_FORMAT, [UInt32(SND_PCM_FORMAT_S16_LE.rawValue)])
        try allow(SND_PCM_IOPLUG_HW_CHANNELS, [1])
        try allow(SND_PCM_IOPLUG_HW_RATE, [48000])
        try allow(SND_PCM_IOPLUG_HW_PERIOD_BYTES, [4800])
        try allow(SND_PCM_IOPLUG_HW_BUFFER_BYTES, [19200])
    }

    deinit {
        close(timer)
        snd_pcm_close(pcm)
        plug.deallocate()
        callbacks.deallocate()
    }

    private func allow(_ parameter: some BinaryInteger, _ values: [UInt32]) throws {
        try Failure.check(snd_pcm_ioplug_set_param_list(plug, CInt(parameter), UInt32(values.count), values))
    }

    private func start() -> CInt {
        set(every: Int(plug.pointee.period_size) * 1_000_000_000 / Int(plug.pointee.rate))
    }

    private func set(every nanoseconds: Int) -> CInt {
        let period = timespec(tv_sec: 0, tv_nsec: nanoseconds)
        var times = itimerspec(it_interval: period, it_value: period)
        return timerfd_settime(timer, 0, &times, nil)
    }

    /// Plays the periods for which the timer has fired; false if it has not.
    private func advance() -> Bool {
        var times: UInt64 = 0
        guard read(timer, &times, MemoryLayout.size(ofValue: times)) > 0 else { return false }
        position += Int(times) * Int(plug.pointee.period_size)
        return true
    }

    /// Where in its buffer the card plays; an error when it has nothing more to play.
    private func place() -> snd_pcm_sframes_t {
        position < written || written == 0 ? position % Int(plug.pointee.buffer_size) : Int(-EPIPE)
    }

    private static func of(_ plug: UnsafeMutablePointer<snd_pcm_ioplug_t>?) -> TimerCard {
        // SAFETY: the card that init passes, which closes its PCM before it goes.
        Unmanaged<TimerCard>.fromOpaque(plug.unsafelyUnwrapped.pointee.private_data).takeUnretainedValue()
    }
}
