// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OracleScenarios

/// Where a nested run would take the wake-up of a stop.
@Suite struct StopsBeforeSleepTests {
    private var stops = StopsBeforeSleep()

    init() { stops.runBegins() }

    @Test mutating func `A run after a stop serves its wake-up until the sleep is over`() {
        stops.calloutBegins(.beforeSleep)
        #expect(!stops.areTakenByRun)
        stops.stop()
        #expect(stops.areTakenByRun)
        stops.calloutBegins(.beforeSleep)
        #expect(stops.areTakenByRun)
        stops.calloutBegins(.afterSleep)
        #expect(!stops.areTakenByRun)
    }

    @Test mutating func `A stop after the sleep has no wake-up`() {
        stops.calloutBegins(.afterSleep)
        stops.stop()
        #expect(!stops.areTakenByRun)
    }

    @Test mutating func `A stop belongs to the innermost run`() {
        stops.calloutBegins(.beforeSleep)
        stops.runBegins()
        stops.calloutBegins(.beforeSleep)
        stops.stop()
        #expect(stops.areTakenByRun)
        stops.runEnds()
        #expect(!stops.areTakenByRun)
    }

    @Test mutating func `A stop without a run has no wake-up`() {
        stops.runEnds()
        stops.stop()
        #expect(!stops.areTakenByRun)
    }
}
