// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension TracePage {
    /// What lies below the timeline.
    static let chartScript = #"""
        const element = (name, attributes = {}, text = "") => {
          const e = Object.assign(document.createElement(name), attributes);
          e.textContent = text;
          return e;
        };
        /// Bars; a number shows when one is pointed at.
        function bars(id, rows) {
          const box = document.getElementById(id), most = Math.max(...rows.map(r => r.size), 1e-9);
          box.replaceChildren(...rows.map(r => {
            const row = element("div", { className: "bar", title: r.title }), bar = element("i");
            bar.style.width = 100 * r.size / most + "%"; bar.style.background = colour(r.kind);
            row.append(element("span", {}, r.name), bar);
            if (r.go) { row.style.cursor = "pointer"; row.onclick = r.go; }
            return row;
          }));
          if (!rows.length) box.textContent = "None.";
        }
        /// How often values fall into steps that double, from a microsecond on.
        function histogram(id, values, kind) {
          const box = document.getElementById(id);
          if (!values.length) { box.textContent = "None."; return; }
          const bin = v => v < 1 ? 0 : 1 + Math.floor(Math.log2(v)), counts = [];
          for (const v of values) counts[bin(v)] = (counts[bin(v)] || 0) + 1;
          const first = Math.max(0, counts.findIndex(n => n) - 1), most = Math.max(...counts.filter(n => n));
          const edge = n => n === 0 ? 0 : 2 ** (n - 1), plot = element("div", { className: "histogram" });
          for (let n = first; n < counts.length; n++) {
            const bar = element("i", { title: (counts[n] || 0) + " from " + time(edge(n)) + " to " + time(edge(n + 1)) });
            bar.style.height = 100 * (counts[n] || 0) / most + "%"; bar.style.background = colour(kind);
            plot.append(bar);
          }
          const sorted = [...values].sort((a, b) => a - b), part = p => time(sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))]);
          plot.title = values.length + " in all; half below " + part(.5) + ", 99 of 100 below " + part(.99);
          const scale = element("div", { className: "scale" });
          scale.append(element("span", {}, time(edge(first))), element("span", {}, time(edge(counts.length))));
          box.replaceChildren(plot, scale);
        }
        /// The steps of one turn, each as wide as the root of its time: what is short stays in sight.
        function showTurn(slice) {
          while (slice && slice.kind !== "turn") slice = slice.parent;
          slice = slice || turns.reduce((a, b) => !a || b.awake > a.awake ? b : a, null);
          const strip = document.getElementById("turn");
          if (!slice) { strip.textContent = "None."; return; }
          document.getElementById("turnTitle").textContent = "One turn, on " + slice.track.name + ": awake for " + time(slice.awake);
          const parts = [...slice.steps.map(s => ({ name: s.name, from: s.at, to: s.at, kind: "turn" })),
            ...slice.inside.map(s => ({ name: s.name, from: s.from, to: s.to, kind: s.kind, slice: s }))].sort((a, b) => a.from - b.from);
          strip.replaceChildren(...parts.map(p => {
            const box = element("div", { title: p.slice ? describe(p.slice) : p.name + ", at " + time(p.from - slice.from) }, p.name);
            box.style.flex = (p.slice ? 1 + Math.sqrt(Math.max(0, p.to - p.from)) / 6 : 1) + " 1 0";
            box.style.background = colour(p.kind);
            if (p.slice && callee(p.slice)) box.style.color = "#fff";
            return box;
          }));
        }
        function charts() {
          document.getElementById("program").textContent = trace.otherData.program;
          const loops = [...tracks.values()].filter(t => t.slices.some(s => s.kind === "run"));
          const lost = trace.otherData.lost ? ", " + trace.otherData.lost + " older events overwritten" : "";
          document.getElementById("overview").textContent = time(end) + ", " + loops.length + (loops.length === 1 ? " loop, " : " loops, ")
            + turns.length + " turns, " + slices.filter(callee).length + " callouts" + lost;
          document.getElementById("legend").replaceChildren(...Object.keys(colourNames).flatMap(kind => {
            const key = element("span", { className: "key" });
            key.style.background = colour(kind);
            return [key, kind === "sleep" ? "asleep" : kind];
          }));
          const slowest = new Map();
          for (const s of slices.filter(callee)) {
            const key = s.kind + " " + s.name, all = slowest.get(key) || { count: 0, total: 0, worst: s };
            all.count++; all.total += s.to - s.from;
            if (s.to - s.from > all.worst.to - all.worst.from) all.worst = s;
            slowest.set(key, all);
          }
          bars("slowest", [...slowest.values()].sort((a, b) => (b.worst.to - b.worst.from) - (a.worst.to - a.worst.from)).slice(0, 12).map(a => ({
            name: a.worst.name, kind: a.worst.kind, size: a.worst.to - a.worst.from,
            title: a.worst.kind + ", at most " + time(a.worst.to - a.worst.from) + "; " + a.count + " calls, " + time(a.total) + " in all",
            go: () => { kept = a.worst; detail.textContent = describe(kept); showTurn(kept); const span = Math.max(20, (kept.to - kept.from) * 4); show(kept.from - span / 3, span); } })));
          const ledger = new Map();
          for (const s of slices.filter(s => s.kind === "sleep")) {
            const name = s.args.wokenBy + (s.args.by ? " by " + threadName(s.args.by) : "");
            const row = ledger.get(name) || { name, kind: { timer: "timer", descriptor: "descriptor", "main queue": "main queue", "wake-up": "wake-up" }[s.args.wokenBy] || "sleep", size: 0 };
            row.size++; ledger.set(name, row);
          }
          bars("ledger", [...ledger.values()].sort((a, b) => b.size - a.size).slice(0, 12).map(r => Object.assign(r, { title: r.size + " times" })));
          const waited = test => slices.filter(s => callee(s) && s.args.waited !== undefined && test(s)).map(s => Math.max(0, s.args.waited));
          histogram("lateness", waited(s => s.kind === "timer"), "timer");
          histogram("latency", waited(s => s.kind !== "timer"), "source");
          histogram("turns", turns.map(t => t.awake), "block");
          showTurn(kept);
        }
        charts();
        layout();
        """#
}
