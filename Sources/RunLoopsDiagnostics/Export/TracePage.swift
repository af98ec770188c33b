// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

/// A trace as a page that needs nothing else: the events of ``ChromeTrace`` and a script that draws them.
internal import RunLoops

package enum TracePage {
    static func text(_ trace: RunLoop.Trace) -> String { text(program: trace.program, json: ChromeTrace.text(trace)) }

    /// The same of JSON that ``ChromeTrace`` has written before.
    package static func text(program: String, json: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(escaped(program)): its run loops</title>
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

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "<": result += "&lt;"
            case "&": result += "&amp;"
            default: result.append(character)
            }
        }
    }

    private static let frame = #"""
        <header><h1 id="program"></h1><p id="overview"></p></header>
        <section>
        <canvas id="timeline" tabindex="0" aria-label="Timeline of the loops"></canvas>
        <p class="hint" id="legend"></p>
        <pre id="detail" aria-live="polite">Turn the wheel to zoom, drag to pan, press 0 for everything; point at a slice, or click it to keep it here.</pre>
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
        :root { color-scheme: light dark; --back: #fcfcfa; --fore: #22252a; --dim: #6d737c; --line: #dcdfe3;
          --asleep: #e4e8ee; --run: #c9d3e0; --turn: #dfe6d6; --observer: #9aa5b1; --block: #4d9f70; --source: #d08a2e;
          --descriptor: #8a63c9; --timer: #2f7ec7; --main: #1d9a9a; --job: #7d8f2b; --flow: #c2506e; }
        @media (prefers-color-scheme: dark) { :root { --back: #16181c; --fore: #e4e6e9; --dim: #949ba5; --line: #32363d;
          --asleep: #22262d; --run: #35414f; --turn: #313b2c; --observer: #6d7783; --block: #4d9f70; --source: #d99a45;
          --descriptor: #9d7bd8; --timer: #4c97db; --main: #2bb0b0; --job: #a3b544; --flow: #e58ba5; } }
        body { margin: 1.2rem auto; padding: 0 1.2rem; max-width: 1400px; background: var(--back); color: var(--fore);
          font: 14px/1.45 system-ui, sans-serif; }
        h1 { font-size: 1.3rem; margin: 0; } h2 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
        header p, .hint { color: var(--dim); margin: .2rem 0 .8rem; }
        canvas { display: block; width: 100%; border: 1px solid var(--line); border-radius: 6px; cursor: grab; outline-offset: 2px; }
        pre { white-space: pre-wrap; color: var(--dim); min-height: 2.9em; margin: .2rem 0; }
        .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(340px, 1fr)); gap: 0 2rem; }
        .key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin: 0 .35em 0 .9em; }
        .strip { display: flex; height: 2.6rem; border-radius: 6px; overflow: auto hidden; }
        .strip div { min-width: max-content; white-space: nowrap; padding: .6rem .3rem; box-sizing: border-box;
          border-right: 1px solid var(--back); font-size: 12px; }
        .bar { display: grid; grid-template-columns: 13rem 1fr; gap: .6rem; align-items: center; margin: 2px 0; }
        .bar span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: right; }
        .bar i { display: block; height: 1rem; border-radius: 3px; min-width: 2px; }
        .histogram { display: flex; align-items: flex-end; height: 110px; gap: 2px; border-bottom: 1px solid var(--line); }
        .histogram i { flex: 1; border-radius: 3px 3px 0 0; }
        .scale { display: flex; justify-content: space-between; color: var(--dim); font-size: 12px; }
        """#
}
