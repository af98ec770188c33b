// A library with an event loop of its own inside a run loop: here one that waits for a pipe and a time.

import Glibc
import RunLoops
import RunLoopsEvents

@main struct App {
    static func main() throws {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        let (input, output) = (ends[0], ends[1])

        // snippet.CODE
        let source = try PollSource(label: "library") { wait in
            // The library says what it waits for: libusb_get_pollfds, snd_pcm_poll_descriptors, curl_multi_waitfds …
            wait.descriptors = [pollfd(fd: input, events: Int16(POLLIN), revents: 0)]
            wait.limit = .seconds(5)
        } dispatch: { descriptors in
            // … and works: libusb_handle_events_timeout, snd_pcm_avail_update, curl_multi_perform …
            print(descriptors[0].revents == 0 ? "the time is over" : "there is input")
            RunLoop.current.stop()
        }
        // snippet.end
        write(output, "x", 1)
        RunLoop.current.run(in: .default, for: .seconds(10))
        source.invalidate()
    }
}
