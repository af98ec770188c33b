// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension TracePage {
    /// From events to slices: the same in the page as in `Trace.Report`.
    static let readingScript = #"""
        "use strict";
        const trace = JSON.parse(document.getElementById("trace").textContent);
        const tracks = new Map(), flows = [], slices = [], steps = [];
        const track = id => {
          if (!tracks.has(id)) tracks.set(id, { id, name: "thread " + id, open: [], slices: [], steps: [], rows: 1 });
          return tracks.get(id);
        };
        let end = 1;
        for (const e of trace.traceEvents) {
          end = Math.max(end, e.ts + (e.dur || 0));
          if (e.ph === "M") { if (e.name === "thread_name") track(e.tid).name = e.args.name; continue; }
          const t = track(e.tid);
          if (e.ph === "B" || e.ph === "X") {
            const slice = { name: e.name, kind: e.cat, from: e.ts, to: e.ts + (e.dur || 0), row: t.open.length,
              args: e.args || {}, track: t, parent: t.open[t.open.length - 1], steps: [], inside: [] };
            if (slice.parent) slice.parent.inside.push(slice);
            t.slices.push(slice); slices.push(slice);
            t.rows = Math.max(t.rows, slice.row + 1);
            if (e.ph === "B") t.open.push(slice);
          } else if (e.ph === "E") {
            const slice = t.open.pop();
            if (slice) slice.to = e.ts;
          } else if (e.ph === "i") {
            const step = { name: e.name, at: e.ts };
            t.steps.push(step);
            const turn = t.open.findLast(s => s.kind === "turn");
            if (turn) turn.steps.push(step);
          } else if (e.ph === "s") {
            flows[e.id] = Object.assign(flows[e.id] || {}, { from: e.ts, fromTrack: t });
          } else if (e.ph === "f") {
            flows[e.id] = Object.assign(flows[e.id] || {}, { to: e.ts, toTrack: t });
          }
        }
        const callee = s => !["run", "turn", "sleep", "wake-up"].includes(s.kind);
        const colourNames = { run: "--run", turn: "--turn", sleep: "--asleep", observer: "--observer", block: "--block",
          source: "--source", descriptor: "--descriptor", timer: "--timer", "main queue": "--main", job: "--job", "wake-up": "--flow" };
        const colour = kind => getComputedStyle(document.documentElement).getPropertyValue(colourNames[kind] || "--dim");
        const time = us => Math.abs(us) < 1000 ? us.toFixed(us < 10 ? 2 : 0) + " µs"
          : Math.abs(us) < 1e6 ? (us / 1000).toFixed(us < 10000 ? 2 : 1) + " ms" : (us / 1e6).toFixed(2) + " s";
        const threadName = id => tracks.has(id) ? tracks.get(id).name : "thread " + id;
        const asleepIn = s => s.kind === "sleep" ? s.to - s.from : s.inside.reduce((sum, i) => sum + asleepIn(i), 0);
        const turns = slices.filter(s => s.kind === "turn");
        for (const turn of turns) turn.awake = turn.to - turn.from - asleepIn(turn);
        const describe = s => {
          let text = s.kind + "  " + s.name + "  on " + s.track.name + "\n" + time(s.to - s.from) + ", from " + time(s.from);
          if (s.args.waited !== undefined) text += ", wanted " + time(s.args.waited) + " before";
          if (s.args.wokenBy) text += ", woken by " + s.args.wokenBy;
          if (s.args.by) text += ", " + threadName(s.args.by);
          if (s.args.interval) text += ", every " + time(s.args.interval) + ", tolerance " + time(s.args.tolerance);
          if (s.kind === "turn") text += ", awake " + time(s.awake);
          return text;
        };
        """#
}
