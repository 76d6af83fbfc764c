// The page reads whole without this script, which adds a search, folding, and ways through the
// graph. It knows the claims from the page alone, reads text as text, and keeps nothing.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const find = (id) => document.getElementById(id);
  const say = (words) => { find("told").textContent = words; };

  // Folding: every claim and finding is open in the page as written.

  const folds = all("details.fold");

  function target() {
    try {
      return find(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return null; // a fragment that is no text names nothing here
    }
  }

  function reveal() {
    const place = target();
    if (!place) return;
    place.classList.remove("filtered"); // asked for by name, whatever the filters say
    for (let part = place; part; part = part.parentElement) {
      if (part instanceof HTMLDetailsElement) part.open = true;
    }
    place.scrollIntoView();
    place.querySelector("summary")?.focus({ preventScroll: true });
  }

  function foldOnRequest() {
    for (const button of all("button.fold-all")) {
      button.addEventListener("click", () => {
        const open = button.dataset.open === "true";
        for (const fold of all("details.fold", button.closest("section"))) fold.open = open;
      });
    }
  }

  function unfoldForPrint() {
    let closed = [];
    addEventListener("beforeprint", () => {
      closed = folds.filter((fold) => !fold.open); // goals and axioms as the reader left them
      for (const fold of closed) fold.open = true;
    });
    addEventListener("afterprint", () => {
      for (const fold of closed) fold.open = false;
      closed = [];
    });
  }

  // Filters: a claim is shown when each of them lets it through.

  const rows = all("tr.row").map((row) => ({
    claim: row.dataset.claim,
    text: all("[data-searched]", row).map((cell) => cell.textContent).join("\n").toLowerCase(),
    paper: [row.dataset.paper],
    standing: [row.dataset.standing],
    outcome: [row.dataset.outcome],
    method: row.dataset.methods.split("\n"),
  }));

  function chosen() {
    const words = find("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const selects = all("select.filter").filter((select) => select.value);
    const admits = (row) => (select) => {
      const values = row[select.name];
      // "not ok" is the one choice that stands for several values
      return select.value === "not ok" ? !values.includes("ok") : values.includes(select.value);
    };
    const shown = rows.filter(
      (row) => words.every((word) => row.text.includes(word)) && selects.every(admits(row)),
    );
    return new Set(shown.map((row) => row.claim));
  }

  function filter() {
    const shown = chosen();
    for (const part of all("tr.row, details.claim")) {
      part.classList.toggle("filtered", !shown.has(part.dataset.claim));
    }
    for (const node of all("a.node")) {
      node.classList.toggle("dimmed", !shown.has(node.dataset.claim));
    }
    for (const paper of all(".paper")) {
      paper.classList.toggle("filtered", !all("tr.row:not(.filtered)", paper).length);
    }
    find("shown").textContent = `${shown.size} of ${rows.length} shown`;
    for (const line of all(".no-match")) line.hidden = shown.size > 0 || !rows.length;
  }

  function filterOnRequest() {
    const controls = find("controls");
    controls.addEventListener("input", filter);
    find("clear").addEventListener("click", () => {
      find("search").value = "";
      for (const select of all("select", controls)) select.value = "";
      filter();
      find("search").focus();
    });
    filter();
  }

  // The graph: edges run from what is used, on the left, to what uses it.

  const nodes = new Map();
  for (const link of all("a.node")) {
    const { x, y } = link.querySelector(".frame").getBBox();
    const drawing = link.closest("svg");
    nodes.set(link.dataset.claim, { link, x, y, drawing, uses: [], users: [] });
  }
  const edges = all(".edge").map((path) => {
    const user = nodes.get(path.dataset.user);
    const used = nodes.get(path.dataset.used);
    user.uses.push(used);
    used.users.push(user);
    return { path, user, used };
  });

  function reached(node, way) {
    const found = new Set([node]);
    for (const one of found) for (const next of one[way]) found.add(next); // grows as it is read
    return found;
  }

  function trace(node) {
    const below = node ? reached(node, "uses") : new Set();
    const above = node ? reached(node, "users") : new Set();
    for (const one of nodes.values()) {
      one.link.classList.toggle("traced", below.has(one) || above.has(one));
    }
    for (const { path, user, used } of edges) {
      const on = (below.has(user) && below.has(used)) || (above.has(user) && above.has(used));
      path.classList.toggle("traced", on);
    }
    for (const drawing of all(".graph svg")) {
      drawing.classList.toggle("tracing", node?.drawing === drawing);
    }
  }

  function step(node, key) {
    const near = [...nodes.values()].filter(
      (other) => other !== node && other.drawing === node.drawing,
    );
    const far = (other) => Math.hypot(other.x - node.x, other.y - node.y);
    const loose = !node.uses.length && !node.users.length;
    const row = near.filter((other) => other.y === node.y);
    const column = near.filter((other) => other.x === node.x);
    const ways = {
      ArrowLeft: loose ? row.filter((other) => other.x < node.x) : node.uses,
      ArrowRight: loose ? row.filter((other) => other.x > node.x) : node.users,
      ArrowUp: column.filter((other) => other.y < node.y),
      ArrowDown: column.filter((other) => other.y > node.y),
    };
    return [...ways[key]].sort((one, other) => far(one) - far(other))[0];
  }

  function walkTheGraph() {
    const nodeOf = (event) => nodes.get(event.target.closest?.("a.node")?.dataset.claim);
    const focused = () => nodes.get(document.activeElement?.closest("a.node")?.dataset.claim);
    for (const drawing of all(".graph")) {
      drawing.addEventListener("mouseover", (event) => trace(nodeOf(event) ?? focused()));
      drawing.addEventListener("mouseleave", () => trace(focused()));
      drawing.addEventListener("focusin", (event) => trace(nodeOf(event)));
      drawing.addEventListener("focusout", () => trace(undefined));
      drawing.addEventListener("keydown", (event) => {
        const node = nodeOf(event);
        if (!node || !event.key.startsWith("Arrow")) return;
        event.preventDefault();
        step(node, event.key)?.link.focus();
      });
    }
  }

  // Copying: a page opened from a disk may be denied the clipboard, and then selects the text.

  async function copied(code) {
    try {
      await navigator.clipboard.writeText(code.textContent);
      return true;
    } catch {
      getSelection().selectAllChildren(code);
      return document.execCommand("copy");
    }
  }

  function copyOnRequest() {
    for (const button of all("button.copy")) {
      const label = button.textContent;
      button.addEventListener("click", async () => {
        const done = await copied(find(button.dataset.copies));
        button.textContent = done ? "Copied" : "Selected";
        say(done ? "The command is copied." : "The command is selected: copy it with your keys.");
        setTimeout(() => { button.textContent = label; }, 2000);
      });
    }
  }

  for (const part of all(".scripted")) part.hidden = false;
  for (const fold of folds) fold.open = false;
  foldOnRequest();
  unfoldForPrint();
  filterOnRequest();
  walkTheGraph();
  copyOnRequest();
  addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => {
    const href = event.target.closest?.("a")?.getAttribute("href");
    if (href?.startsWith("#") && href === location.hash) reveal(); // no change of the fragment
  });
  reveal();
})();
