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
    return [...chart.querySelectorAll(".mark")].filter((mark) => !mark.closest(".off"));
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

  const theme = document.getElementById("theme"), root = document.documentElement;
  const isDark = () => root.dataset.theme
    ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const label = () => { theme.setAttribute("aria-pressed", String(isDark())); };
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); });
  label();
})();
