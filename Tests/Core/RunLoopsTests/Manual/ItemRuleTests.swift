// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsTestSupport
import RunLoopsTesting
import Testing

/// Specification 3.8: adding twice, and removing, invalidating and adding inside callouts.
@Suite(.ownThread) struct ItemRuleTests {
    @Test func `Adding an item to a mode twice has the effect of adding it once`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            let calls = Box<[String]>([])
            let source = RunLoop.Source { _ in calls.value.append("source") }
            let timer = RunLoop.Timer(.after(.zero)) { _ in calls.value.append("timer") }
            let observer = RunLoop.Observer(.exit) { _, _ in calls.value.append("observer") }
            for _ in 0..<2 { for item in [source, timer, observer] { loop.addAny(item, in: .default) } }
            source.signal()
            loop.runTurn()
            #expect(calls.value == ["source", "timer", "observer"])
            calls.value = []
            let descriptorSource = RunLoop.DescriptorSource(1) { _, _ in calls.value.append("descriptor") }
            for _ in 0..<2 { try loop.add(descriptorSource, in: .default) }
            manual.setReady(1, .readable)
            loop.runTurn()
            #expect(calls.value == ["descriptor", "observer"])
            loop.remove(descriptorSource, from: .default)
            #expect(!loop.contains(descriptorSource, in: .default))
            loop.remove(descriptorSource, from: .default)
        }
    }

    @Test func `Adding an invalid item has no effect`() throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            let descriptorSource = RunLoop.DescriptorSource(1) { _, _ in }
            let items: [RunLoop.Item] = [
                RunLoop.Source { _ in }, RunLoop.Timer(.after(.zero)) { _ in }, RunLoop.Observer(.all) { _, _ in },
            ]
            for item in items + [descriptorSource] {
                #expect(item.isValid)
                item.invalidate()
                item.invalidate()
                #expect(!item.isValid)
            }
            for item in items {
                loop.addAny(item, in: .default)
                loop.addAny(item, in: .common)
                #expect(!loop.contains(item, in: .default))
                #expect(!loop.contains(item, in: .common))
            }
            try loop.add(descriptorSource, in: .default)
            #expect(!loop.contains(descriptorSource, in: .default))
            #expect(loop.runTurn() == .finished)
        }
    }

    @Test(arguments: [RunLoop.Mode.default, .common, "private"])
    func `add returns whether the item was added`(mode: RunLoop.Mode) throws {
        try ManualRunLoop.with { outer in
            try ManualRunLoop.with { inner in
                let source = RunLoop.Source { _ in }
                let timer = RunLoop.Timer(.after(.seconds(1))) { _ in }
                let observer = RunLoop.Observer(.all) { _, _ in }
                let descriptorSource = RunLoop.DescriptorSource(1) { _, _ in }
                func expect(
                    _ loop: RunLoop, _ results: [Bool], sourceLocation: SourceLocation = #_sourceLocation
                ) throws {
                    let added = [
                        loop.add(source, in: mode), loop.add(timer, in: mode), loop.add(observer, in: mode),
                        try loop.add(descriptorSource, in: mode),
                    ]
                    #expect(added == results, sourceLocation: sourceLocation)
                }
                try expect(outer.loop, [true, true, true, true])
                // Adding twice is once, and the item is there.
                try expect(outer.loop, [true, true, true, true])
                // Only timers and observers are in one loop at most.
                try expect(inner.loop, [true, false, false, true])
                for item in [source, timer, observer, descriptorSource] { item.invalidate() }
                try expect(outer.loop, [false, false, false, false])
                try expect(inner.loop, [false, false, false, false])
                for item in [source, timer, observer, descriptorSource] {
                    #expect(!outer.loop.contains(item, in: mode))
                    #expect(!inner.loop.contains(item, in: mode))
                }
            }
        }
    }

    @Test func `add on the loop of an ended thread returns false`() throws {
        let ended = TestThread.run { RunLoop.current }
        #expect(!ended.add(RunLoop.Timer.sendable(.after(.zero)) { _ in }, in: .default))
        #expect(!ended.add(RunLoop.Source.sendable { _ in }, in: .default))
        #expect(!ended.add(RunLoop.Observer.sendable(.all) { _, _ in }, in: .common))
        let descriptorSource = RunLoop.DescriptorSource.sendable(0) { _, _ in }
        let isAdded = try ended.add(descriptorSource, in: .default)
        #expect(!isAdded)
    }

    @Test func `A removed item stays valid and can be added again`() {
        ManualRunLoop.with { manual in
            let fired = Box(0)
            let timer = RunLoop.Timer(.every(.seconds(1))) { _ in fired.value += 1 }
            manual.loop.add(timer, in: .default)
            manual.loop.remove(timer, from: .default)
            #expect(timer.isValid)
            manual.loop.add(timer, in: .default)
            manual.advance(by: .seconds(1))
            #expect(fired.value == 1)
        }
    }

    @Test func `A removed item is released with its closure`() {
        ManualRunLoop.with { manual in
            let witness = Witness()
            do {
                let token = witness.makeToken()
                let timer = RunLoop.Timer(.every(.seconds(1))) { _ in withExtendedLifetime(token) {} }
                manual.loop.add(timer, in: .default)
                manual.loop.add(timer, in: "other")
                manual.loop.remove(timer, from: .default)
                manual.loop.remove(timer, from: "other")
            }
            #expect(witness.isGone)
        }
    }

    /// What a callout does to an item.
    enum Deed: CaseIterable {
        case remove, invalidate, addElsewhere

        func perform(on item: RunLoop.Item, in loop: RunLoop) {
            switch self {
            case .remove: loop.remove(item, from: .default)
            case .invalidate: item.invalidate()
            case .addElsewhere:
                loop.remove(item, from: .default)
                if let descriptorSource = item as? RunLoop.DescriptorSource {
                    #expect(throws: Never.self) { try loop.add(descriptorSource, in: "elsewhere") }
                } else {
                    loop.addAny(item, in: "elsewhere")
                }
            }
        }
    }

    @Test(arguments: Deed.allCases, [0, 1, 2, 3, 4])
    func `Every item may be removed or invalidated in every kind of callout`(deed: Deed, place: Int) throws {
        try ManualRunLoop.with { manual in
            let loop = manual.loop
            let items = Box<[RunLoop.Item]>([])
            let witness = Witness()
            let deeds = Box(0)
            // Does the deed to all items, the called item included, the first time that the callout is reached in its
            // place.
            func callout(_ here: Int) {
                if here == 2 { manual.setReady(1, []) }
                guard here == place, deeds.value == 0 else { return }
                deeds.value += 1
                for item in items.value { deed.perform(on: item, in: loop) }
            }
            do {
                let token = witness.makeToken()
                let source = RunLoop.Source { _ in
                    callout(0)
                    withExtendedLifetime(token) {}
                }
                let timer = RunLoop.Timer(.every(.seconds(1))) { _ in
                    callout(1)
                    withExtendedLifetime(token) {}
                }
                let descriptorSource = RunLoop.DescriptorSource(1) { _, _ in
                    callout(2)
                    withExtendedLifetime(token) {}
                }
                let observer = RunLoop.Observer(.beforeSources) { _, _ in
                    callout(3)
                    withExtendedLifetime(token) {}
                }
                for item in [source, timer, observer] { loop.addAny(item, in: .default) }
                try loop.add(descriptorSource, in: .default)
                items.value = [source, timer, descriptorSource, observer]
                source.signal()
                manual.setReady(1, .readable)
                loop.performLocally { callout(4) }
            }
            _ = loop.run(in: .default, for: .milliseconds(1500))
            #expect(deeds.value == 1)
            for item in items.value {
                #expect(!loop.contains(item, in: .default))
                #expect(loop.contains(item, in: "elsewhere") == (deed == .addElsewhere))
                #expect(item.isValid == (deed != .invalidate))
            }
            #expect(loop.runTurn() == .finished)
            for item in items.value { item.invalidate() }
            items.value = []
            #expect(witness.isGone)
        }
    }

    @Test func `A source invalidated by an earlier callout of the turn is not called`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let second = RunLoop.Source(order: 2) { _ in Issue.record("the second was performed") }
            let first = RunLoop.Source(order: 1) { _ in second.invalidate() }
            for source in [first, second] {
                loop.add(source, in: .default)
                source.signal()
            }
            loop.runTurn()
            #expect(!second.isValid)
        }
    }

    @Test func `Removing and adding items in the innermost run takes effect in the outermost run`() {
        ManualRunLoop.with { manual in
            let loop = manual.loop
            let source = loop.addSource()
            func nest(_ depth: Int) {
                loop.performLocally {
                    if depth == 5 {
                        loop.remove(source, from: .default)
                        loop.addSource(in: "new")
                    } else {
                        nest(depth + 1)
                        loop.runTurn()
                    }
                }
            }
            nest(0)
            #expect(loop.run(in: .default, for: .seconds(1)) == .finished)
            #expect(loop.modes.contains("new"))
            #expect(loop.runTurn() == .finished)
        }
    }

    @Test func `Items describe themselves with label and order`() {
        let labelled = RunLoop.Source(order: 3, label: "input") { _ in }
        #expect(labelled.label == "input")
        #expect(labelled.order == 3)
        #expect(labelled.description == "<RunLoop.Source input>{valid, order 3, in no loop}")
        labelled.signal()
        #expect(labelled.description == "<RunLoop.Source input>{valid, order 3, signalled, in no loop}")
        labelled.invalidate()
        #expect(labelled.description == "<RunLoop.Source input>{invalid, order 3}")
        let line = #line + 1
        let timer = RunLoop.Timer(.every(.seconds(1.5))) { _ in }
        #expect(timer.label == "RunLoopsTests/ItemRuleTests.swift:\(line)")
        #expect(timer.description == "<RunLoop.Timer \(timer.label)>{valid, every 1.5 seconds, in no loop}")
        let observer = RunLoop.Observer([.entry, .exit], order: -1, repeats: false, label: "o") { _, _ in }
        #expect(observer.description == "<RunLoop.Observer o>{valid, [entry, exit], order -1, once, in no loop}")
        let descriptorSource = RunLoop.DescriptorSource(7, for: .writable, label: "p") { _, _ in }
        #expect(
            descriptorSource.description == "<RunLoop.DescriptorSource p>{valid, descriptor 7, [writable], in no loop}")
    }

    @Test func `Items that were made and never added describe themselves as being in no loop`() {
        ManualRunLoop.with { manual in
            let texts = Box<[String]>([])
            let once = RunLoop.Timer(.after(.seconds(1)), label: "once") { texts.value.append("\($0)") }
            let timer = RunLoop.Timer(.every(.seconds(1)), label: "every") { texts.value.append("\($0)") }
            let source = RunLoop.Source { _ in }
            let descriptorSource = RunLoop.DescriptorSource(7) { _, _ in }
            let observer = RunLoop.Observer(.exit) { _, _ in }
            let all: [RunLoop.Item] = [once, timer, source, descriptorSource, observer]
            func count() -> Int { all.count { $0.description.contains("in no loop") } }
            #expect(count() == 5)
            for item in [once, timer] { manual.loop.add(item, in: .default) }
            manual.loop.add(source, in: .default)
            addDescriptorSource(descriptorSource, to: manual.loop)
            manual.loop.add(observer, in: .default)
            #expect(count() == 0)
            // A timer is in its loop during its callout, too.
            manual.advance(by: .seconds(1))
            #expect(texts.value.count == 2)
            #expect(texts.value.allSatisfy { !$0.contains("in no loop") })
            manual.loop.remove(timer, from: .default)
            #expect(count() == 1)
            descriptorSource.invalidate()
        }
    }
}
