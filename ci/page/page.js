// Filters and sorting of tables of benchmarks, and the figures under the pointer. A page is whole without.
(() => {
  "use strict";
  const element = (tag, properties = {}, ...children) => {
    const one = Object.assign(document.createElement(tag), properties);
    one.append(...children);
    return one;
  };
  const headers = (table) => [...table.tHead.rows[0].cells].map((cell) => cell.textContent);

  // A row with the remarks below it.
  const rowsOf = (table) => {
    const rows = [];
    for (const row of table.tBodies[0].rows) {
      if (row.classList.contains("remark")) rows.at(-1)?.remarks.push(row);
      else rows.push({row, remarks: []});
    }
    return rows;
  };

  const FIELDS = ["operation", "implementation", "dtype", "verdict", "owner"];

  // Of a row of a table with a column "benchmark".
  const fieldsOf = (row, names) => {
    const benchmark = row.cells[names.indexOf("benchmark")].textContent;
    const parts = benchmark.split("/");
    const fields = parts.length > 3 ? {operation: parts[0], implementation: parts[1], dtype: parts[2]} : {};
    for (const name of ["verdict", "owner"]) {
      const at = names.indexOf(name);
      if (at >= 0) fields[name] = row.cells[at].textContent;
    }
    return {...fields, benchmark};
  };

  const benchmarkRows = () => [...document.querySelectorAll("main table[role=table]")].flatMap((table) => {
    const names = headers(table);
    if (!names.includes("benchmark")) return [];
    return rowsOf(table).map((one) => ({...one, fields: fieldsOf(one.row, names)}));
  });

  const FEWEST_FILTERED = 8; // rows

  const addFilters = () => {
    const rows = benchmarkRows();
    if (rows.length < FEWEST_FILTERED) return;
    const count = element("output", {className: "soft"});
    const form = element("form", {className: "filters", ariaLabel: "Filters"});
    const inputs = {};
    for (const field of FIELDS) {
      const distinct = new Set(rows.map((one) => one.fields[field] ?? ""));
      if (distinct.size < 2) continue;
      const values = [...distinct].filter(Boolean).sort();
      inputs[field] = element("select", {name: field}, new Option("all", ""), ...values.map((value) => new Option(value, value)));
      form.append(element("label", {}, field, inputs[field]));
    }
    const text = element("input", {name: "benchmark", type: "search"});
    const reset = element("button", {type: "reset", textContent: "Show all"});
    form.append(element("label", {}, "benchmark contains", text), reset, count);
    const apply = () => {
      const wanted = Object.entries(inputs).filter(([, input]) => input.value);
      const searched = text.value.toLowerCase();
      const isActive = wanted.length > 0 || searched !== "";
      const shown = new Set();
      for (const {row, remarks, fields} of rows) {
        const fits = wanted.every(([field, input]) => fields[field] === input.value) &&
          fields.benchmark.toLowerCase().includes(searched);
        for (const one of [row, ...remarks]) one.hidden = !fits;
        if (!fits) continue;
        shown.add(fields.benchmark);
        if (isActive) for (let fold = row.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
      }
      count.textContent = isActive ? `${shown.size} benchmark${shown.size === 1 ? "" : "s"}` : "";
    };
    form.addEventListener("input", apply);
    form.addEventListener("reset", () => setTimeout(apply));
    form.addEventListener("submit", (event) => event.preventDefault());
    document.querySelector("main").prepend(form);
  };

  // Figures by size, whatever their unit; what is no figure by its letters.
  const UNITS = {ns: 1, us: 1e3, ms: 1e6, s: 1e9, mJ: 1e-3, J: 1};
  const keyOf = (cell) => {
    const text = cell?.textContent ?? "";
    const found = /^[^0-9A-Za-z+-]*([+-]?[0-9.]+)(?: ([a-zA-Z]+))?/.exec(text);
    return found ? Number(found[1]) * (UNITS[found[2]] ?? 1) : text;
  };
  const compare = (a, b) => (typeof a === "number") === (typeof b === "number")
    ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;

  const addSorting = () => {
    for (const table of document.querySelectorAll("main table[role=table]")) {
      if (table.tBodies[0].rows.length < 3) continue;
      [...table.tHead.rows[0].cells].forEach((header, at) => {
        const button = element("button", {type: "button"}, ...header.childNodes);
        header.append(button);
        button.addEventListener("click", () => {
          const sign = header.ariaSort === "ascending" ? -1 : 1;
          const rows = rowsOf(table).map((one) => ({...one, key: keyOf(one.row.cells[at])}));
          rows.sort((a, b) => sign * compare(a.key, b.key));
          for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
          header.ariaSort = sign > 0 ? "ascending" : "descending";
          table.tBodies[0].append(...rows.flatMap((one) => [one.row, ...one.remarks]));
        });
      });
    }
  };

  // Night and value, of each of the path's nights: stretches of pairs, each relative to the one before.
  const valuesOf = (path) => {
    const values = new Map();
    let x = 0, y = 0;
    for (const stretch of path.split("m").slice(1)) {
      const numbers = stretch.replace("h0", "").match(/-?\d+/g).map(Number);
      for (let i = 0; i < numbers.length; i += 2) values.set(x += numbers[i], y += numbers[i + 1]);
    }
    return values;
  };

  const addReadout = (svg) => {
    const values = valuesOf(svg.querySelector(".run").getAttribute("d"));
    const nights = [...values.keys()];
    const {unit, zero} = svg.dataset;
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    line.classList.add("cursor");
    const readout = element("p", {className: "readout", ariaLive: "polite", textContent: "Point at a night, or press the arrow keys."});
    svg.append(line);
    svg.parentElement.after(readout);
    svg.tabIndex = 0;
    let at = nights.length;
    const show = (index) => {
      at = Math.max(0, Math.min(nights.length - 1, index));
      const night = nights[at];
      const effect = 100 * Math.expm1((zero - values.get(night)) * unit);
      line.setAttribute("d", `M${night} 0v${svg.viewBox.baseVal.height}`);
      const [date, ...more] = (window.fusegateNights ?? [])[night] ?? [`night ${night + 1}`];
      readout.textContent = [date, `${effect > 0 ? "+" : ""}${effect.toFixed(2)} %`, ...more.filter(Boolean)].join(", ");
    };
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const night = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width - 0.5;
      let nearest = 0;
      nights.forEach((one, i) => { if (Math.abs(one - night) < Math.abs(nights[nearest] - night)) nearest = i; });
      show(nearest);
    });
    svg.addEventListener("keydown", (event) => {
      const to = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: nights.length - 1}[event.key];
      if (to === undefined) return;
      event.preventDefault();
      show(to);
    });
  };

  // A header that a narrow page hides takes no focus.
  const skipHidden = () => {
    for (const head of document.querySelectorAll("main thead")) {
      const isHidden = getComputedStyle(head).position === "absolute";
      for (const button of head.querySelectorAll("button")) button.tabIndex = isHidden ? -1 : 0;
    }
  };

  addSorting();
  skipHidden();
  addEventListener("resize", skipHidden);
  addFilters();
  document.querySelectorAll("svg.nights").forEach(addReadout);
})();
