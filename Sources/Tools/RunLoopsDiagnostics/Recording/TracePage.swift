// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A trace as a self-contained HTML page: the events of ``ChromeTrace`` and a script that draws them.
package enum TracePage {
    /// Returns the page of a program's trace.
    ///
    /// - Parameter json: The JSON that ``ChromeTrace`` has written.
    package static func text(program: String, json: String) -> String {
        let title = program.map { $0 == "<" ? "&lt;" : $0 == "&" ? "&amp;" : String($0) }.joined()
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title): its run loops</title>
            <style>
            \(style)
            </style>
            </head>
            <body>
            \(frame)
            <script type="application/json" id="trace">
            \(json)
            </script>
            <script>
            \(readingScript)
            \(timelineScript)
            \(chartScript)
            </script>
            </body>
            </html>

            """
    }

    private static let frame = #"""
        <header><h1 id="program"></h1><p id="overview"></p></header>
        <section>
        <canvas id="timeline" tabindex="0" role="application" aria-label="Timeline of the loops" aria-describedby="keys"></canvas>
        <p class="hint" id="legend"></p>
        <p class="hint" id="keys">Wheel or <kbd>+</kbd> <kbd>−</kbd> zoom, drag or <kbd>←</kbd> <kbd>→</kbd> move,
        <kbd>0</kbd> shows everything, <kbd>n</kbd> <kbd>p</kbd> go to the next and previous callout, a click keeps one;
        <kbd>Tab</kbd> reaches every bar, <kbd>Enter</kbd> goes to its place here.</p>
        <pre id="detail" aria-live="polite">Point at a slice, or choose one: it is described here.</pre>
        </section>
        <section><h2 id="turnTitle">One turn</h2><div id="turn" class="strip"></div></section>
        <div class="columns">
        <section><h2>Slowest callouts</h2><div id="slowest"></div></section>
        <section><h2>Who woke the loop</h2><div id="ledger"></div></section>
        <section><h2>Timers: how late</h2><div id="lateness"></div></section>
        <section><h2>Others: how long they waited</h2><div id="latency"></div></section>
        <section><h2>Turns: how long awake</h2><div id="turns"></div></section>
        </div>
        """#

    private static let style = #"""
        :root { color-scheme: light dark; --back: #fcfcfa; --fore: #22252a; --dim: #5f656e; --line: #dcdfe3; --on: #fff;
          --asleep: #e4e8ee; --run: #c9d3e0; --turn: #dfe6d6; --observer: #6f7b88; --block: #3a8259; --source: #a86612;
          --descriptor: #8058c2; --timer: #2a72b5; --main: #147f7f; --job: #6a7a22; --flow: #b8405f; }
        @media (prefers-color-scheme: dark) { :root { --back: #16181c; --fore: #e4e6e9; --dim: #a2a9b3; --line: #32363d;
          --on: #101215; --asleep: #22262d; --run: #35414f; --turn: #313b2c; --observer: #929dab; --block: #5cb585;
          --source: #e0a552; --descriptor: #ab8de2; --timer: #62a9e8; --main: #3cbcbc; --job: #a9bb4c; --flow: #e58ba5; } }
        body { margin: 1.2rem auto; padding: 0 clamp(.6rem, 2vw, 1.2rem); max-width: 1400px; background: var(--back);
          color: var(--fore); font: 14px/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
        h1 { font-size: 1.3rem; margin: 0; } h2 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
        header p, .hint { color: var(--dim); margin: .2rem 0 .6rem; }
        kbd { font: inherit; padding: 0 .3em; border: 1px solid var(--line); border-radius: 3px; }
        canvas { display: block; width: 100%; border: 1px solid var(--line); border-radius: 6px; cursor: grab; touch-action: pan-y; }
        pre { white-space: pre-wrap; min-height: 2.9em; margin: .2rem 0; }
        button { font: inherit; color: inherit; background: none; border: 0; padding: 0; text-align: inherit; }
        button:enabled { cursor: pointer; }
        :focus-visible { outline: 2px solid var(--flow); outline-offset: 2px; }
        .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(340px, 100%), 1fr)); gap: 0 2rem; }
        .legend { display: inline-block; white-space: nowrap; margin-right: .9em; }
        .key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .35em; }
        .strip { display: flex; border-radius: 6px; overflow: auto hidden; padding: 3px; gap: 1px; }
        .strip button { min-width: max-content; padding: .3rem; font-size: 12px; }
        .strip small { display: block; }
        .bar { display: grid; grid-template-columns: minmax(0, 13rem) minmax(2rem, 1fr) 7rem; gap: .6rem;
          align-items: center; margin: 2px 0; width: 100%; }
        .bar span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: right; }
        .bar i { display: block; height: 1rem; border-radius: 3px; min-width: 2px; }
        .bar b { font-weight: normal; font-variant-numeric: tabular-nums; }
        .histogram { display: flex; align-items: flex-end; height: 130px; gap: 2px; overflow-wrap: normal; }
        .histogram button { flex: 1 1 0; min-width: 0; display: flex; flex-direction: column; justify-content: flex-end; height: 100%;
          align-items: center; font-size: 11px; font-variant-numeric: tabular-nums; }
        .histogram i { border-radius: 3px 3px 0 0; flex-shrink: 0; align-self: stretch; }
        .histogram small { align-self: stretch; text-align: center; border-top: 1px solid var(--line); color: var(--dim);
          height: 1.6em; white-space: nowrap; flex-shrink: 0; }
        """#
}
