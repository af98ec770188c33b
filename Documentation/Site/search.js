// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The search of every page: the key "/" or the button opens it. It knows all names of all libraries and the words of the guide's pages
// (search.json, which Documentation/Site/finish writes and which is loaded when the search is opened first).
(() => {
  const base = document.currentScript.dataset.base;
  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "open" });
  root.innerHTML = `
    <style>
      :host { --back: #fff; --text: #1d1d1f; --dim: #56565c; --line: #c6c6cc; --mark: #e3effd; }
      @media (prefers-color-scheme: dark) {
        :host(:not([scheme=light])) { --back: #1d1d1f; --text: #f5f5f7; --dim: #b0b0b6; --line: #48484c; --mark: #0a3a66; }
      }
      :host([scheme=dark]) { --back: #1d1d1f; --text: #f5f5f7; --dim: #b0b0b6; --line: #48484c; --mark: #0a3a66; }
      * { box-sizing: border-box; font: 15px/1.4 system-ui, sans-serif; }
      button { position: fixed; right: 16px; bottom: 16px; z-index: 9998; padding: 8px 14px; border: 1px solid var(--line);
        border-radius: 18px; background: var(--back); color: var(--text); cursor: pointer; }
      kbd { padding: 0 6px; border: 1px solid var(--line); border-radius: 4px; }
      dialog { width: min(680px, calc(100vw - 24px)); max-height: 80vh; margin: 8vh auto 0; padding: 0; border: 1px solid var(--line);
        border-radius: 12px; background: var(--back); color: var(--text); overflow: hidden; }
      dialog[open] { display: flex; flex-direction: column; }
      dialog::backdrop { background: rgb(0 0 0 / 40%); }
      input { width: 100%; padding: 14px 16px; border: 0; border-bottom: 1px solid var(--line); background: transparent;
        color: var(--text); font-size: 17px; outline: none; }
      ul { margin: 0; padding: 6px; list-style: none; overflow-y: auto; }
      a { display: block; padding: 8px 10px; border-radius: 8px; color: var(--text); text-decoration: none; overflow-wrap: anywhere; }
      a[aria-selected=true], a:hover { background: var(--mark); }
      b { font-weight: 600; }
      small { display: block; font-size: 13px; color: var(--dim); }
      p { margin: 0; padding: 14px 16px; color: var(--dim); }
    </style>
    <button type="button" aria-label="Search all pages">Search <kbd>/</kbd></button>
    <dialog aria-label="Search">
      <input type="search" role="combobox" aria-expanded="true" aria-controls="found" aria-label="Search all names and pages"
        placeholder="A name, or words: timer, stdin, CFRunLoopRun" autocomplete="off" spellcheck="false">
      <ul id="found" role="listbox"></ul><p aria-live="polite"></p>
    </dialog>`;
  const [button, dialog, input, list, note] = ["button", "dialog", "input", "ul", "p"].map((name) => root.querySelector(name));
  let rows, chosen = 0;

  const lower = (text) => text.toLowerCase();
  // Where words begin in a name: CFRunLoopRun has "run", "loop" and "run".
  const parts = (title) => lower(title.replace(/([a-z0-9])([A-Z])/g, "$1 $2")).split(/[^a-z0-9_@.%+]+/);

  async function load() {
    const found = await fetch(base + "search.json");
    rows = (await found.json()).map(([title, kind, module, path, description, words]) => ({
      title, kind, module, path, description, prose: words !== "", low: lower(title), parts: parts(title),
      words: new Set(words.split(" ")), text: lower(description),
    }));
  }

  // Words of questions that say nothing about what is looked for.
  const idle = new Set("a an and are at by can do does for from how i in is it my of on one or the there this to what when which who why with".split(" "));
  // "stops" and "scrolling" look for "stop" and "scroll" as well.
  const stem = (word) => word.length > 4 ? word.replace(/(ning|ping|ting|ing|ed|es|s)$/, "") : word;

  // How well a row answers one word of the query; 0 if it does not.
  function rate(row, word) {
    const name = row.low.replace(/\(.*/, "");
    if (name === word || row.low === word) return 100;
    if (name.startsWith(word)) return 60;
    if (row.parts.includes(word)) return 50;
    if (row.parts.some((part) => part.startsWith(word))) return 30;
    if (word.length > 2 && row.low.includes(word)) return 20;
    if (row.text.split(/[^a-z0-9_]+/).includes(word)) return 14;
    if (row.words.has(word)) return 10;
    if (word.length > 2 && row.text.includes(word)) return 6;
    if (row.prose && word.length > 3 && [...row.words].some((other) => other.startsWith(word))) return 4;
    return 0;
  }

  function search(query) {
    const all = lower(query).split(/\s+/).filter(Boolean);
    const telling = all.filter((word) => !idle.has(word));
    const words = telling.length ? telling : all;
    if (!words.length) return [];
    return rows
      .map((row) => {
        const rates = words.map((word) => rate(row, word) || rate(row, stem(word)) * 0.8);
        // One word in three may be missing: people ask in sentences.
        const missing = rates.filter((one) => one === 0).length;
        if (missing * 3 > words.length) return { row, score: 0 };
        // Types and pages of prose before members; short titles before long ones.
        const kind = row.prose ? 12 : /^(class|struct|enum|protocol|module|func|macro)/.test(row.kind) ? 8 : 0;
        return { row, score: rates.reduce((sum, one) => sum + one, 0) / words.length + kind - Math.min(row.title.length, 80) / 20 - 12 * missing };
      })
      .filter((one) => one.score > 0)
      .sort((one, other) => other.score - one.score)
      .slice(0, 30)
      .map((one) => one.row);
  }

  function show() {
    const found = rows ? search(input.value) : [];
    list.replaceChildren(...found.map((row, number) => {
      const link = document.createElement("a");
      link.href = base + row.path + "/";
      link.id = "found-" + number;
      link.setAttribute("role", "option");
      const title = document.createElement("b"), where = document.createElement("small");
      title.textContent = row.title;
      where.textContent = row.module + (row.description ? " — " + row.description : "");
      link.append(title, where);
      const item = document.createElement("li");
      item.append(link);
      return item;
    }));
    note.textContent = !rows ? "Loading …" : !input.value.trim() || found.length ? "" : "Nothing found. Try one word less.";
    choose(0);
  }

  function choose(number) {
    const links = [...list.querySelectorAll("a")];
    chosen = Math.max(0, Math.min(number, links.length - 1));
    links.forEach((link, index) => link.setAttribute("aria-selected", index === chosen));
    links[chosen]?.scrollIntoView({ block: "nearest" });
    if (links[chosen]) input.setAttribute("aria-activedescendant", links[chosen].id);
    else input.removeAttribute("aria-activedescendant");
  }

  async function open() {
    if (dialog.open) return;
    // The switch of the pages' own style, which is kept on the body.
    host.setAttribute("scheme", document.body.dataset.colorScheme || "auto");
    dialog.showModal();
    input.select();
    show();
    if (rows) return;
    try {
      await load();
      show();
    } catch (error) {
      note.textContent = "The list of names could not be loaded: " + error.message;
    }
  }

  button.addEventListener("click", open);
  input.addEventListener("input", show);
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  input.addEventListener("keydown", (event) => {
    const links = list.querySelectorAll("a");
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter" && links[chosen]) location.href = links[chosen].href;
    else return;
    event.preventDefault();
  });
  // Before the listeners of the page: its sidebar takes "/" for its filter.
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.composedPath()[0];
    if (target instanceof Element && target.closest("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    open();
  }, true);
  document.body.append(host);
})();
