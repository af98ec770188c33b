// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OracleScenarios

/// Where a nested run would take the wake-up of a stop.
@Suite struct StopsBeforeSleepTests {
    private var stops = StopsBeforeSleep()

    init() { stops.runBegins() }

    @Test mutating func `areTakenByRun is true from a stop before the sleep until the sleep is over`() {
        stops.calloutBegins(.beforeSleep)
        #expect(!stops.areTakenByRun)
        stops.stop()
        #expect(stops.areTakenByRun)
        stops.calloutBegins(.beforeSleep)
        #expect(stops.areTakenByRun)
        stops.calloutBegins(.afterSleep)
        #expect(!stops.areTakenByRun)
    }

    @Test mutating func `A stop after the sleep does not set areTakenByRun`() {
        stops.calloutBegins(.afterSleep)
        stops.stop()
        #expect(!stops.areTakenByRun)
    }

    @Test mutating func `A stop sets areTakenByRun for the innermost run only`() {
        stops.calloutBegins(.beforeSleep)
        stops.runBegins()
        stops.calloutBegins(.beforeSleep)
        stops.stop()
        #expect(stops.areTakenByRun)
        stops.runEnds()
        #expect(!stops.areTakenByRun)
    }

    @Test mutating func `A stop without a run does not set areTakenByRun`() {
        stops.runEnds()
        stops.stop()
        #expect(!stops.areTakenByRun)
    }
}
