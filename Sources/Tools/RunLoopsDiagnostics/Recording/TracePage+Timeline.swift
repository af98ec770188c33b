// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension TracePage {
    /// The script that makes slices from events, in the same way as `Trace.Report` does.
    static let readingScript = #"""
        "use strict";
        const trace = JSON.parse(document.getElementById("trace").textContent);
        const tracks = new Map(), flows = [], slices = [];
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
            if (slice) { slice.to = e.ts; slice.unfinished = !!e.args; }
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
        const isCallee = s => !["run", "turn", "sleep", "wake-up"].includes(s.kind);
        const colourNames = { run: "--run", turn: "--turn", sleep: "--asleep", observer: "--observer", block: "--block",
          source: "--source", descriptor: "--descriptor", timer: "--timer", "main queue": "--main", job: "--job", "wake-up": "--flow" };
        const colour = kind => "var(" + (colourNames[kind] || "--dim") + ")";
        const time = us => us === 0 ? "0" : Math.abs(us) < 1000 ? us.toFixed(Math.abs(us) < 10 ? 2 : 0) + " µs"
          : Math.abs(us) < 1e6 ? (us / 1000).toFixed(Math.abs(us) < 1e5 ? 1 : 0) + " ms" : (us / 1e6).toFixed(2) + " s";
        const threadName = id => tracks.has(id) ? tracks.get(id).name : "thread " + id;
        const asleepIn = s => s.kind === "sleep" ? s.to - s.from : s.inside.reduce((sum, i) => sum + asleepIn(i), 0);
        const turns = slices.filter(s => s.kind === "turn"), callouts = slices.filter(isCallee).sort((a, b) => a.from - b.from);
        for (const turn of turns) turn.awake = turn.to - turn.from - asleepIn(turn);
        const describe = s => {
          let text = s.kind + "  " + s.name + "  on " + s.track.name + "\n" + time(s.to - s.from) + ", from " + time(s.from);
          if (s.unfinished) text += ", still under way at the end";
          if (s.args.waited !== undefined) text += ", wanted " + time(s.args.waited) + " before";
          if (s.args.wokenBy) text += ", woken by " + s.args.wokenBy;
          if (s.args.by) text += ", " + threadName(s.args.by);
          if (s.args.interval) text += ", every " + time(s.args.interval) + ", tolerance " + time(s.args.tolerance);
          if (s.kind === "turn") text += ", awake " + time(s.awake);
          return text;
        };
        """#

    /// The script for the timeline: a canvas that zooms and pans.
    static let timelineScript = #"""
        const canvas = document.getElementById("timeline"), detail = document.getElementById("detail");
        const rowHeight = 19, gap = 26, axis = 24;
        // An address that ends in #from-to, in microseconds, opens there.
        const place = location.hash.match(/^#([\d.]+)-([\d.]+)$/);
        let view = place ? { from: +place[1], to: +place[2] } : { from: 0, to: end }, hovered = null, kept = null;
        // From the slice that the waker was in to the sleep that ended.
        const rowAt = (t, us) => {
          let low = 0, high = t.slices.length;
          while (low < high) {
            const middle = (low + high) >> 1;
            if (t.slices[middle].from <= us) low = middle + 1; else high = middle;
          }
          let s = t.slices[low - 1];
          while (s && s.to < us) s = s.parent;
          return s ? s.row : 0;
        };
        for (const f of flows) if (f && f.fromTrack && f.toTrack) {
          f.fromRow = rowAt(f.fromTrack, f.from);
          f.toRow = rowAt(f.toTrack, f.to);
        }
        for (const t of tracks.values()) t.drawn = [...t.slices.filter(s => !isCallee(s)), ...t.slices.filter(isCallee)];
        const height = () => axis + [...tracks.values()].reduce((sum, t) => sum + t.rows * rowHeight + gap, 0) + 6;
        function layout() {
          let y = axis;
          for (const t of tracks.values()) { t.y = y + gap - 6; y += t.rows * rowHeight + gap; }
          const ratio = devicePixelRatio || 1;
          canvas.style.height = height() + "px";
          canvas.width = canvas.clientWidth * ratio; canvas.height = height() * ratio;
          canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
          draw();
        }
        const x = us => (us - view.from) / (view.to - view.from) * canvas.clientWidth;
        const at = px => view.from + px / canvas.clientWidth * (view.to - view.from);
        function niceStep(span) {
          const raw = span / 8, power = 10 ** Math.floor(Math.log10(raw));
          return [1, 2, 5, 10].map(n => n * power).find(n => n >= raw);
        }
        /// A time on the axis, as fine as the steps are.
        function mark(us, step) {
          const [size, unit] = view.to < 1000 ? [1, " µs"] : view.to < 1e6 ? [1000, " ms"] : [1e6, " s"];
          return (us / size).toFixed(Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9))) + unit;
        }
        function draw() {
          const c = canvas.getContext("2d"), width = canvas.clientWidth;
          const css = name => getComputedStyle(document.documentElement).getPropertyValue(name);
          const colours = {};
          for (const kind in colourNames) colours[kind] = css(colourNames[kind]);
          const fore = css("--fore"), dim = css("--dim"), line = css("--line"), on = css("--on");
          c.clearRect(0, 0, width, height());
          c.font = "12px system-ui, sans-serif"; c.textBaseline = "middle";
          const step = niceStep(view.to - view.from);
          for (let us = Math.ceil(view.from / step) * step; us <= view.to; us += step) {
            c.fillStyle = line; c.fillRect(x(us), 0, 1, height());
            c.fillStyle = dim; c.fillText(mark(us, step), x(us) + 4, 11);
          }
          for (const t of tracks.values()) {
            c.fillStyle = fore; c.fillText(t.name, 6, t.y - 10);
            const lastPixel = [];
            // Callouts last and never too thin to be seen: they are what one looks for.
            for (const s of t.drawn) {
              if (s.to < view.from || s.from > view.to) continue;
              const left = Math.max(0, x(s.from)), right = Math.min(width, x(s.to));
              // Many slices on one pixel are drawn as one.
              if (right - left < 1 && lastPixel[s.row] === Math.floor(left)) continue;
              lastPixel[s.row] = Math.floor(left);
              c.fillStyle = colours[s.kind] || dim;
              c.fillRect(left, t.y + s.row * rowHeight, Math.max(isCallee(s) ? 1.5 : 1, right - left - .5), rowHeight - 2);
              // An unfinished slice has an open end.
              if (s.unfinished && s.to <= view.to) { c.fillStyle = colours["wake-up"]; c.fillRect(right - 3, t.y + s.row * rowHeight, 3, rowHeight - 2); }
              if (s === hovered || s === kept) { c.strokeStyle = fore; c.strokeRect(left, t.y + s.row * rowHeight, Math.max(2, right - left), rowHeight - 2); }
              if (right - left > 34) {
                c.save(); c.beginPath(); c.rect(left, t.y + s.row * rowHeight, right - left - 2, rowHeight); c.clip();
                c.fillStyle = isCallee(s) ? on : fore;
                c.fillText(s.name, left + 5, t.y + s.row * rowHeight + rowHeight / 2 - .5); c.restore();
              }
            }
            if ((view.to - view.from) < 5e4) {
              c.fillStyle = fore;
              for (const s of t.steps) if (s.at >= view.from && s.at <= view.to) c.fillRect(x(s.at), t.y - 4, 1, 4);
            }
          }
          c.strokeStyle = colours["wake-up"]; c.lineWidth = 1.2;
          for (const f of flows) {
            if (!f || !f.fromTrack || !f.toTrack || f.fromTrack === f.toTrack || f.to < view.from || f.from > view.to) continue;
            const [x1, y1] = [x(f.from), f.fromTrack.y + (f.fromRow + .5) * rowHeight];
            const [x2, y2] = [x(f.to), f.toTrack.y + (f.toRow + .5) * rowHeight];
            c.beginPath(); c.moveTo(x1, y1); c.bezierCurveTo(x1, (y1 + y2) / 2, x2, (y1 + y2) / 2, x2, y2); c.stroke();
            c.fillStyle = colours["wake-up"]; c.beginPath(); c.arc(x2, y2, 2.2, 0, 7); c.fill();
          }
          c.lineWidth = 1;
        }
        function zoom(factor, centre) {
          const span = Math.min(end * 1.1, Math.max(.5, (view.to - view.from) * factor));
          const share = (centre - view.from) / (view.to - view.from);
          show(centre - span * share, span);
        }
        function show(from, span) {
          from = Math.max(-end * .05, Math.min(end * 1.05 - span, from));
          view = { from, to: from + span };
          draw();
        }
        function find(event) {
          const box = canvas.getBoundingClientRect(), us = at(event.clientX - box.left), y = event.clientY - box.top;
          const slack = 2 / canvas.clientWidth * (view.to - view.from);
          for (const t of tracks.values()) {
            const row = Math.floor((y - t.y) / rowHeight);
            if (row < 0 || row >= t.rows) continue;
            return t.slices.findLast(s => s.row === row && s.from - slack <= us && us <= s.to + slack);
          }
        }
        let drag = null;
        canvas.addEventListener("wheel", e => {
          e.preventDefault();
          const left = canvas.getBoundingClientRect().left;
          if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
            const span = view.to - view.from;
            show(view.from + (e.deltaX || e.deltaY) / canvas.clientWidth * span, span);
          } else zoom(Math.exp(e.deltaY * .0015), at(e.clientX - left));
        }, { passive: false });
        canvas.addEventListener("pointerdown", e => { drag = { x: e.clientX, from: view.from, moved: false }; canvas.setPointerCapture(e.pointerId); });
        canvas.addEventListener("pointerup", e => {
          if (drag && !drag.moved) keep(find(e) || null, false);
          drag = null;
        });
        canvas.addEventListener("pointermove", e => {
          if (drag) {
            const span = view.to - view.from, moved = e.clientX - drag.x;
            if (Math.abs(moved) > 3) drag.moved = true;
            return show(drag.from - moved / canvas.clientWidth * span, span);
          }
          const slice = find(e) || null;
          if (slice === hovered) return;
          hovered = slice;
          if (slice || kept) detail.textContent = describe(slice || kept);
          draw();
        });
        canvas.addEventListener("keydown", e => {
          const span = view.to - view.from, middle = (view.from + view.to) / 2;
          if (e.key === "+" || e.key === "=") zoom(.6, middle);
          else if (e.key === "-") zoom(1 / .6, middle);
          else if (e.key === "ArrowLeft") show(view.from - span / 5, span);
          else if (e.key === "ArrowRight") show(view.from + span / 5, span);
          else if (e.key === "0") show(0, end);
          else if (e.key === "n" || e.key === "p") {
            const now = kept ? kept.from : e.key === "n" ? view.from : view.to;
            const next = e.key === "n" ? callouts.find(s => s.from > now) : callouts.findLast(s => s.from < now);
            if (next) keep(next);
          }
          else return;
          e.preventDefault();
        });
        addEventListener("resize", layout);
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
        """#
}
