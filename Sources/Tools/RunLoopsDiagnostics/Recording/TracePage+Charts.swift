// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension TracePage {
    /// The script for the charts below the timeline.
    ///
    /// They are made of buttons, so that they can be reached with the keyboard, and each shows its number.
    static let chartScript = #"""
        const get = id => document.getElementById(id);
        const element = (name, attributes = {}, ...inside) => {
          const e = Object.assign(document.createElement(name), attributes);
          e.append(...inside);
          return e;
        };
        const detailHint = detail.textContent;
        const button = (attributes, go, ...inside) =>
          element("button", { type: "button", onclick: go || null, disabled: !go, ...attributes }, ...inside);
        const patch = (kind, style) => { const i = element("i"); Object.assign(i.style, { background: colour(kind) }, style); return i; };
        function bars(id, rows) {
          const most = Math.max(...rows.map(r => r.size), 1e-9);
          get(id).replaceChildren(...rows.map(r => button({ className: "bar", title: r.title }, r.go,
            element("span", {}, r.name), patch(r.kind, { width: 100 * r.size / most + "%" }), element("b", {}, r.number))));
          if (!rows.length) get(id).textContent = "None.";
        }
        /// How often values fall into steps that double, from a microsecond on; each leads to its longest.
        function histogram(id, items, kind) {
          if (!items.length) { get(id).textContent = "None."; return; }
          const bins = [];
          for (const item of items) {
            const n = item.value < 1 ? 0 : 1 + Math.floor(Math.log2(item.value)), bin = bins[n] ||= { count: 0, worst: item };
            bin.count++;
            if (item.value > bin.worst.value) bin.worst = item;
          }
          const first = Math.max(0, bins.findIndex(b => b) - 1), most = Math.max(...bins.map(b => b ? b.count : 0).filter(n => n));
          const edge = n => n === 0 ? 0 : 2 ** (n - 1), plot = element("div", { className: "histogram" });
          const short = us => us === 0 ? "0" : us < 1000 ? us + "µs" : us < 1e6 ? Math.round(us / 1000) + "ms" : (us / 1e6).toFixed(us < 1e7 ? 1 : 0) + "s";
          const every = bins.length - first > 9 ? 2 : 1;
          for (let n = first; n < bins.length; n++) {
            const bin = bins[n], count = bin ? bin.count : 0, range = "from " + time(edge(n)) + " to " + time(edge(n + 1));
            plot.append(button({ title: count + " " + range, ariaLabel: count + " " + range }, bin && (() => keep(bin.worst.slice)),
              count ? String(count) : "", patch(kind, { height: 90 * count / most + "px" }), element("small", {}, (n - first) % every ? "" : short(edge(n)))));
          }
          const sorted = items.map(i => i.value).sort((a, b) => a - b), part = p => time(sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))]);
          get(id).replaceChildren(plot, element("p", { className: "hint" },
            items.length + " in all: half below " + part(.5) + ", 99 of 100 below " + part(.99) + ", at most " + part(1)));
        }
        /// Has the slice stay described, its turn shown, and the timeline at its place.
        function keep(slice, moves = true) {
          kept = slice;
          detail.textContent = slice ? describe(slice) : detailHint;
          showTurn(slice);
          if (!slice || !moves) return draw();
          const span = Math.max(20, (slice.to - slice.from) * 4);
          show(slice.from - span / 3, span);
          canvas.scrollIntoView({ block: "nearest" });
        }
        /// The steps of one turn, each as wide as the root of its time: what is short stays in sight.
        function showTurn(slice) {
          while (slice && slice.kind !== "turn") slice = slice.parent;
          slice = slice || turns.reduce((a, b) => !a || b.awake > a.awake ? b : a, null);
          if (!slice) { get("turn").textContent = "None."; return; }
          get("turnTitle").textContent = "One turn, on " + slice.track.name + ": awake for " + time(slice.awake);
          const parts = [...slice.steps.map(s => ({ name: s.name, from: s.at, kind: "turn" })),
            ...slice.inside.map(s => ({ name: s.name, from: s.from, kind: s.kind, slice: s }))].sort((a, b) => a.from - b.from);
          get("turn").replaceChildren(...parts.map(p => {
            const length = p.slice ? lengthOf(p.slice) : 0, at = time(p.from - slice.from);
            const box = button({ title: p.slice ? describe(p.slice) : p.name + ", at " + at }, p.slice && (() => keep(p.slice)),
              p.name, element("small", {}, p.slice ? time(length) : "at " + at));
            Object.assign(box.style, { flex: 1 + Math.sqrt(Math.max(0, length)) / 6 + " 1 0", background: colour(p.kind) });
            if (p.slice && isCallee(p.slice)) box.style.color = "var(--on)";
            return box;
          }));
        }
        const lengthOf = s => s.to - s.from;
        /// Slices by what `name` says of each: how many there are, how long they took in all, and the longest.
        function groups(slices, name) {
          const found = new Map();
          for (const s of slices) {
            const key = name(s), group = found.get(key) || { name: key, count: 0, total: 0, longest: s };
            group.count++; group.total += lengthOf(s);
            if (lengthOf(s) > lengthOf(group.longest)) group.longest = s;
            found.set(key, group);
          }
          return [...found.values()];
        }
        function charts() {
          const plural = (n, word) => n + " " + word + (n === 1 ? "" : "s");
          const loops = [...tracks.values()].filter(t => t.slices.some(s => s.kind === "run" || s.kind === "turn"));
          const lost = trace.otherData.lost ? ", " + trace.otherData.lost + " older events overwritten" : "";
          get("program").textContent = trace.otherData.program;
          get("overview").textContent = time(end) + ", " + plural(loops.length, "loop") + ", " + plural(turns.length, "turn") + ", " + plural(callouts.length, "callout") + lost;
          get("legend").replaceChildren(...Object.keys(colourNames).map(kind => {
            const key = patch(kind); key.className = "key";
            return element("span", { className: "legend" }, key, kind === "sleep" ? "asleep" : kind);
          }));
          const slowest = groups(callouts, s => s.kind + " " + s.name).sort((a, b) => lengthOf(b.longest) - lengthOf(a.longest));
          bars("slowest", slowest.slice(0, 12).map(({ name, count, total, longest }) => ({
            name: longest.name, kind: longest.kind, size: lengthOf(longest), number: time(lengthOf(longest)) + (count > 1 ? ", " + count + "×" : ""),
            title: name + ": at most " + time(lengthOf(longest)) + "; " + plural(count, "call") + ", " + time(total) + " in all", go: () => keep(longest) })));
          const sleeps = slices.filter(s => s.kind === "sleep" && !s.unfinished);
          const ledger = groups(sleeps, s => s.args.wokenBy + (s.args.by ? " by " + threadName(s.args.by) : "")).sort((a, b) => b.count - a.count);
          bars("ledger", ledger.slice(0, 12).map(({ name, count, longest }) => ({ name, size: count, number: String(count),
            kind: colourNames[longest.args.wokenBy] ? longest.args.wokenBy : "run", title: name + ": " + plural(count, "time"), go: () => keep(longest) })));
          const waited = test => callouts.filter(s => s.args.waited !== undefined && test(s)).map(s => ({ value: Math.max(0, s.args.waited), slice: s }));
          const late = ({ value, slice }) => ({ value: Math.max(0, value - (slice.args.tolerance || 0)), slice });
          histogram("lateness", waited(s => s.kind === "timer").map(late), "timer");
          histogram("latency", waited(s => s.kind !== "timer"), "source");
          histogram("turns", turns.map(t => ({ value: t.awake, slice: t })), "block");
          showTurn(null);
        }
        charts();
        layout();
        """#
}
