// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

extension JSONWriter {
    /// What was in which mode of a loop, and in which modes it was run; times from `origin` on.
    mutating func items(of loop: RunLoop.Trace.Loop, origin: Int64) {
        newLine()
        open("{")
        name("thread")
        value(Int64(loop.thread))
        name("modesRun")
        modes(loop.modesRun)
        name("pages")
        open("[")
        for page in loop.pages { self.page(page, origin) }
        close("]")
        close("}")
    }

    private mutating func page(_ page: ItemPage, _ origin: Int64) {
        open("{")
        name("time")
        microseconds(page.time - origin)
        name("items")
        open("[")
        for entry in page.items.entries { self.entry(entry) }
        close("]")
        name("unserved")
        open("[")
        for source in page.items.unserved {
            open("{")
            name("label")
            value(source.label)
            name("since")
            microseconds(source.since - origin)
            close("}")
        }
        close("]")
        close("}")
    }

    private mutating func entry(_ entry: LoopItems.Entry) {
        open("{")
        name("kind")
        value(entry.kind.rawValue)
        name("label")
        value(entry.label)
        name("modes")
        modes(entry.modes)
        name("common")
        value(entry.isCommon ? 1 : 0)
        close("}")
    }

    private mutating func modes(_ modes: [RunLoop.Mode]) {
        open("[")
        for mode in modes { value(mode.rawValue) }
        close("]")
    }
}
