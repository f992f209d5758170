"use strict";
(() => {
  const tip = document.getElementById("tip");
  let active = null;

  // The words of a mark beside it; text, never markup.
  function show(mark, x, y) {
    if (active !== mark) {
      if (active) active.classList.remove("active");
      active = mark;
      mark.classList.add("active");
      tip.textContent = mark.dataset.tip;
      tip.hidden = false;
    }
    const box = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, x - box.width / 2), innerWidth - box.width - 8);
    tip.style.left = `${left}px`;
    tip.style.top = `${y - box.height - 12 > 4 ? y - box.height - 12 : y + 18}px`;
  }

  function hide() {
    if (active) active.classList.remove("active");
    active = null;
    tip.hidden = true;
  }

  function place(mark) {
    const box = mark.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + Math.min(box.height / 2, 20)];
  }

  // Small marks are caught from a little way off.
  function near(chart, x, y) {
    let best = null, least = 18 * 18;
    for (const mark of marks(chart)) {
      const box = mark.getBoundingClientRect();
      const dx = box.left + box.width / 2 - x, dy = box.top + box.height / 2 - y;
      if (dx * dx + dy * dy < least) { least = dx * dx + dy * dy; best = mark; }
    }
    return best;
  }

  function marks(chart) {
    return [...chart.querySelectorAll(".mark")].filter((mark) => !mark.closest(".off, .away"));
  }

  document.addEventListener("pointermove", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const chart = target && target.closest(".scatter");
    const mark = (target && target.closest(".mark")) || (chart && near(chart, event.clientX, event.clientY));
    if (mark) show(mark, event.clientX, event.clientY);
    else if (!document.activeElement.matches(".chart")) hide();
  });
  document.addEventListener("scroll", () => { if (active) show(active, ...place(active)); }, true);

  for (const chart of document.querySelectorAll(".chart")) {
    chart.addEventListener("focus", () => {
      if (!chart.matches(":focus-visible")) return;
      const first = marks(chart)[0];
      if (first) show(first, ...place(first));
    });
    chart.addEventListener("blur", hide);
    chart.addEventListener("keydown", (event) => {
      const all = marks(chart), at = all.indexOf(active);
      const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
      if (event.key === "Escape") return hide();
      let next = steps[event.key] && at + steps[event.key];
      if (event.key === "Home") next = 0;
      if (event.key === "End") next = all.length - 1;
      if (next === undefined || !all.length) return;
      event.preventDefault();
      const mark = all[(next + all.length) % all.length];
      mark.scrollIntoView({ block: "nearest", inline: "nearest" });
      show(mark, ...place(mark));
    });
  }

  for (const button of document.querySelectorAll("[data-toggle]")) {
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      const picture = button.closest(".panel");
      for (const part of picture.querySelectorAll(`[data-cluster="${button.dataset.toggle}"]`)) {
        part.classList.toggle("off", !on);
      }
    });
  }

  // Zoom: marks move and keep their size. What lies beyond the frame is at its edge until there is
  // room for it; what leaves a picture that is zoomed in is hidden.
  for (const chart of document.querySelectorAll(".scatter")) {
    const svg = chart.querySelector("svg"), box = svg.viewBox.baseVal, edge = 9;
    const movable = [...svg.querySelectorAll(".mark, .number")].map((mark) => {
      const moved = mark.getAttribute("transform"), is = (name) => Number(mark.getAttribute(name));
      const [x, y] = moved ? moved.match(/-?[\d.]+/g).map(Number)
        : mark.matches("circle") ? [is("cx"), is("cy")] : [is("x"), is("y")];
      const far = mark.dataset.x !== undefined;
      return { mark, x: far ? Number(mark.dataset.x) : x, y: far ? Number(mark.dataset.y) : y };
    });
    const span = (values, length) => values.reduce(
      (most, value) => Math.max(most, Math.abs(value - length / 2)), length / 2) / (length / 2 - edge);
    const least = 0.98 / Math.max(span(movable.map((m) => m.x), box.width), span(movable.map((m) => m.y), box.height));
    let view = { k: 1, x: box.width / 2, y: box.height / 2 };

    function draw() {
      const inside = (value, length) => Math.min(Math.max(value, edge), length - edge);
      for (const { mark, x, y } of movable) {
        let at = box.width / 2 + (x - view.x) * view.k, up = box.height / 2 + (y - view.y) * view.k;
        const away = view.k > 1 && (at < 0 || up < 0 || at > box.width || up > box.height);
        mark.classList.toggle("away", away);
        if (view.k <= 1 && !mark.matches(".number")) { at = inside(at, box.width); up = inside(up, box.height); }
        if (mark.matches("path")) mark.setAttribute("transform", `translate(${at} ${up})`);
        else for (const [name, value] of Object.entries(mark.matches("circle") ? { cx: at, cy: up } : { x: at, y: up })) {
          mark.setAttribute(name, value);
        }
      }
      chart.classList.toggle("zoomed", view.k !== 1);
      if (active && chart.contains(active)) hide();
    }

    function zoom(factor, at = [box.width / 2, box.height / 2]) {
      const k = Math.min(Math.max(view.k * factor, Math.min(least, 1)), 256), by = 1 / view.k - 1 / k;
      view = { k, x: view.x + (at[0] - box.width / 2) * by, y: view.y + (at[1] - box.height / 2) * by };
      if (Math.abs(k - 1) < 1e-9 && factor < 1) return all();
      draw();
    }

    function all() { view = { k: 1, x: box.width / 2, y: box.height / 2 }; draw(); }

    function place_of(event) {
      const shown = svg.getBoundingClientRect(), scale = box.width / shown.width;
      return [(event.clientX - shown.left) * scale, (event.clientY - shown.top) * scale];
    }

    chart.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== chart) return;  // the page scrolls
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 400), place_of(event));
    }, { passive: false });
    chart.addEventListener("dblclick", all);
    chart.addEventListener("keydown", (event) => {
      const keys = { "+": 1.6, "=": 1.6, "-": 1 / 1.6 };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (keys[event.key]) zoom(keys[event.key]);
      else if (event.key === "0") all();
    });
    let drag = null;
    svg.addEventListener("pointerdown", (event) => {
      if (event.button === 0 && view.k !== 1) drag = place_of(event);
    });
    addEventListener("pointermove", (event) => {
      if (!drag) return;
      const [x, y] = place_of(event);
      view = { k: view.k, x: view.x - (x - drag[0]) / view.k, y: view.y - (y - drag[1]) / view.k };
      drag = [x, y];
      draw();
    });
    addEventListener("pointerup", () => { drag = null; });
    const buttons = chart.parentElement.querySelector(".zoom");
    buttons.hidden = false;
    buttons.addEventListener("click", (event) => {
      const button = event.target.closest("[data-zoom]"), kinds = { in: 1.6, out: 1 / 1.6 };
      if (button) { if (button.dataset.zoom === "all") all(); else zoom(kinds[button.dataset.zoom]); }
    });
    addEventListener("beforeprint", all);
  }

  // Where a table is wider than its place, a line above it says so.
  const wide = [...document.querySelectorAll(".chart.wide")];
  const measure = () => wide.forEach((chart) => chart.classList.toggle("scrolls", chart.scrollWidth > chart.clientWidth + 1));
  addEventListener("resize", measure);
  measure();

  // What is closed is printed too.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of opened) one.open = false; });

  const theme = document.getElementById("theme"), root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  const label = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); });
  system.addEventListener("change", label);
  theme.hidden = false;
  label();
})();
