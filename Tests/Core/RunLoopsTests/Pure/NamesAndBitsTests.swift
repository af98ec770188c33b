// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import Testing

/// Modes, activities, results and events: their names and numbers.
@Suite(.ownThread) struct NamesAndBitsTests {
    @Test func `The predefined modes have the strings that Apple uses`() {
        let names: [(RunLoop.Mode, String)] = [
            (.default, "kCFRunLoopDefaultMode"), (.common, "kCFRunLoopCommonModes"),
            (.tracking, "UITrackingRunLoopMode"), (.initialization, "UIInitializationRunLoopMode"),
            (.connectionReply, "NSConnectionReplyMode"), (.modalPanel, "NSModalPanelRunLoopMode"),
            (.taskDeathCheck, "NSTaskDeathCheckMode"), (.eventReceive, "GSEventReceiveRunLoopMode"),
        ]
        for (mode, name) in names {
            #expect(mode.rawValue == name)
            #expect(mode.description == name)
            #expect(RunLoop.Mode(name) == mode)
            #expect(RunLoop.Mode(rawValue: name).hashValue == mode.hashValue)
        }
    }

    @Test func `Equal names are the same mode`() {
        let literal: RunLoop.Mode = "org.example.private"
        #expect(literal == RunLoop.Mode("org.example." + "private"))
        #expect(literal.number == RunLoop.Mode(rawValue: "org.example.private").number)
        #expect(literal != "org.example.other")
        #expect(literal.rawValue == "org.example.private")
        #expect(RunLoop.Mode("").rawValue == "")
    }

    @Test func `Threads that intern the same names at the same time get the same modes`() {
        let numbers = Locked<[[UInt32]]>([])
        let threads = (0..<4).map { _ in
            TestThread {
                let mine = (0..<200).map { RunLoop.Mode("interned \($0)").number }
                numbers.withLock { $0.append(mine) }
            }
        }
        for thread in threads { thread.join() }
        let lists = numbers.withLock { $0 }
        #expect(lists.count == 4)
        #expect(lists.allSatisfy { $0 == lists[0] })
        #expect(Set(lists[0]).count == 200)
        #expect(RunLoop.Mode("interned 77").rawValue == "interned 77")
    }

    @Test func `The activities have the bits of Core Foundation`() {
        #expect(RunLoop.Activities.entry.rawValue == 1)
        #expect(RunLoop.Activities.beforeTimers.rawValue == 2)
        #expect(RunLoop.Activities.beforeSources.rawValue == 4)
        #expect(RunLoop.Activities.beforeWaiting.rawValue == 32)
        #expect(RunLoop.Activities.afterWaiting.rawValue == 64)
        #expect(RunLoop.Activities.exit.rawValue == 128)
        #expect(RunLoop.Activities.all.rawValue == 0x0FFF_FFFF)
    }

    @Test func `The description of a set of activities names its members in the order of a turn`() {
        #expect(RunLoop.Activities.entry.description == "[entry]")
        #expect(RunLoop.Activities([.exit, .beforeTimers]).description == "[beforeTimers, exit]")
        #expect(RunLoop.Activities.all.description == "[all]")
        #expect(RunLoop.Activities([]).description == "[]")
    }

    @Test func `The results have the numbers of Core Foundation`() {
        #expect(RunLoop.RunResult.finished.rawValue == 1)
        #expect(RunLoop.RunResult.stopped.rawValue == 2)
        #expect(RunLoop.RunResult.timedOut.rawValue == 3)
        #expect(RunLoop.RunResult.handledSource.rawValue == 4)
        #expect(RunLoop.RunResult.handledSource.description == "handledSource")
    }

    @Test func `The description of a set of descriptor events names its members`() {
        #expect(RunLoop.DescriptorEvents([.hangUp, .readable]).description == "[readable, hangUp]")
        #expect(RunLoop.DescriptorEvents([]).description == "[]")
        let all: RunLoop.DescriptorEvents = [.readable, .writable, .hangUp, .error, .priority]
        #expect(all.description == "[readable, writable, hangUp, error, priority]")
    }

    @Test func `The description of a system call error contains its call and errno`() {
        let error = RunLoop.SystemCallError(call: "epoll_ctl", code: 9)
        #expect(error.description == "epoll_ctl: Bad file descriptor (errno 9)")
        let named = RunLoop.SystemCallError(call: "epoll_ctl", code: 9, subject: "of 7")
        #expect(named.description == "epoll_ctl of 7: Bad file descriptor (errno 9)")
        #expect(named == error && Set([named, error]).count == 1)
        #expect(error == RunLoop.SystemCallError(call: "epoll_ctl", code: 9))
    }
}
