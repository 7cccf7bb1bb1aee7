// Filters and sorts the findings. Without it everything is there, only unfiltered.
(() => {
  const form = document.querySelector(".filter");
  const list = document.getElementById("findings");
  if (!form || !list) return;
  form.hidden = false;
  const findings = [...list.children];
  const text = form.querySelector("input");
  const buttons = [...form.querySelectorAll("button")];
  const order = form.querySelector("select");
  const words = new Map(findings.map((finding) => [finding, finding.textContent.toLowerCase()]));
  const show = () => {
    const kinds = buttons.filter((button) => button.ariaPressed === "true").map((button) => button.dataset.kind);
    const wanted = text.value.trim().toLowerCase();
    let shown = 0;
    for (const finding of findings) {
      const fits = (!kinds.length || kinds.includes(finding.dataset.kind)) && words.get(finding).includes(wanted);
      finding.hidden = !fits;
      shown += fits;
    }
    document.getElementById("no-match").hidden = shown > 0;
  };
  const by = {
    kind: (a, b) => a.dataset.order - b.dataset.order,
    count: (a, b) => b.dataset.count - a.dataset.count,
    first: (a, b) => a.dataset.first.localeCompare(b.dataset.first),
    target: (a, b) => a.dataset.target.localeCompare(b.dataset.target),
  };
  text.addEventListener("input", show);
  order.addEventListener("change", () => list.append(...findings.sort(by[order.value])));
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const button of buttons) {
    button.addEventListener("click", () => {
      button.ariaPressed = button.ariaPressed === "true" ? "false" : "true";
      show();
    });
  }
  const open = () => {
    const finding = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (finding) finding.open = true;
  };
  addEventListener("hashchange", open);
  open();
})();
