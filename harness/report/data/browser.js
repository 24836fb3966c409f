"use strict";
// The transcript browser. Texts come from models: they are only ever written as text.
(() => {
  const PAGE = 50;

  const make = (name, className = "", text = "") => {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text) element.textContent = text;
    return element;
  };

  const labelled = (name, ...controls) => {
    const label = make("label", "", name);
    label.append(...controls);
    return label;
  };

  const isolated = (text) => {
    const element = make("bdi", "", text);
    element.dir = "auto";
    return element;
  };

  // Write a text into an element, what is to be marked in <mark>.
  const write = (element, text, marks) => {
    const low = text.toLowerCase();
    const places = low.length === text.length ? marks.filter(Boolean).map((mark) => mark.toLowerCase()) : [];
    let from = 0;
    while (from < text.length) {
      const found = places
        .map((mark) => [low.indexOf(mark, from), mark.length])
        .filter(([at]) => at >= 0)
        .sort((a, b) => a[0] - b[0] || b[1] - a[1])[0];
      if (!found) break;
      element.append(text.slice(from, found[0]), make("mark", "", text.slice(found[0], found[0] + found[1])));
      from = found[0] + found[1];
    }
    element.append(text.slice(from));
  };

  const block = ([kind, label, text], marks) => {
    const element = make("div", `block ${kind}`);
    const head = element.appendChild(make("p", "label"));
    head.append(isolated(label));
    if (text) {
      const words = element.appendChild(make("pre"));
      words.dir = "auto";
      write(words, text, marks);
    } else if (kind === "answer" || kind === "judge") {
      element.append(make("p", "about", "(no words)"));
    }
    return element;
  };

  // The address of an entry or of something in it, as a place in this page.
  const address = (study, ...anchors) => "#" + [study, ...anchors].join("/").split("/").map(encodeURIComponent).join("/");

  const link = (href) => {
    const element = make("a", "link", "link");
    element.href = href;
    element.setAttribute("aria-label", `Link to ${decodeURIComponent(href.slice(1))}`);
    return element;
  };

  const calls = (study, item, list) => {
    const element = make("details", "calls");
    element.append(make("summary", "", `${list.length} recorded call${list.length === 1 ? "" : "s"}`));
    element.fill = () => {
      if (element.childElementCount > 1) return;
      const how = element.appendChild(make("p", "", "One in full: "));
      how.append(make("code", "", `harness show ${study} '${item.cell}:${list[0][0]}'`));
      const lines = element.appendChild(make("ul"));
      for (const [name, line, at, tries] of list) {
        const entry = lines.appendChild(make("li"));
        const cassette = entry.appendChild(make("a", "", name));
        cassette.href = item.file.split("/").map(encodeURIComponent).join("/");
        cassette.rel = "noreferrer";
        const href = address(study, item.cell, name);
        entry.id = href.slice(1);
        entry.append(`, line ${line}, ${at}${tries > 1 ? `, ${tries} tries` : ""}`, link(href));
      }
    };
    element.addEventListener("toggle", element.fill);
    return element;
  };

  const part = (study, item, one, inside) => {
    const element = make("section", `part ${one.tone}${inside ? "" : " out"}`);
    const anchors = [item.anchor, one.anchor].filter(Boolean);
    const head = element.appendChild(make("h3", "", one.name));
    const href = address(study, ...anchors);
    head.append(link(href));
    element.id = href.slice(1);
    const verdicts = (one.facets.verdict || []).filter((verdict) => verdict !== "none").join(", ");
    if (verdicts) element.append(make("p", "about", verdicts));
    element.append(...one.blocks.map((each) => block(each, one.marks)));
    if (one.calls.length) element.append(calls(study, item, one.calls));
    return element;
  };

  const entry = (study, item, inside) => {
    const element = make("details", "item");
    if (item.steps.some((one) => one.anchor)) element.id = address(study, item.anchor).slice(1);
    const head = element.appendChild(make("summary", "entry"));
    head.append(...item.name.map(isolated));
    const chips = head.appendChild(make("span", "chips"));
    for (const one of item.steps) {
      const chip = chips.appendChild(make("span", `chip ${one.tone}${inside.has(one) ? "" : " out"}`, one.chip));
      chip.dir = "auto";
    }
    element.fill = () => {
      if (element.childElementCount > 1) return;
      element.append(...item.blocks.map((each) => block(each, [])));
      element.append(...item.steps.map((one) => part(study, item, one, inside.has(one))));
      element.append(make("p", "about", `Cassette: ${item.file}`));
    };
    element.addEventListener("toggle", element.fill);
    return element;
  };

  // Tell whether a part of an item has every chosen value, score and word.
  const holds = (item, one, wanted) =>
    Object.entries(wanted.values).every(([name, value]) => [].concat(one.facets[name] ?? item.facets[name]).includes(value)) &&
    wanted.ranges.every(([name, low, high]) => {
      const score = one.scores[name];
      return score !== null && score >= low - 1e-9 && score <= high + 1e-9;
    }) &&
    (!wanted.words || [...item.blocks, ...one.blocks].some(([, , text]) => text.toLowerCase().includes(wanted.words)));

  const start = (section) => {
    const data = JSON.parse(section.querySelector("script[type='application/json']").textContent);
    const [filters, count, list, more] = [".filters", ".count", ".list", ".more"].map((name) => section.querySelector(name));
    const selects = data.facets.map((facet) => {
      const select = make("select");
      select.append(new Option("all", ""), ...facet.values.map((value) => new Option(value, value)));
      select.name = facet.name;
      filters.append(labelled(facet.name, select));
      return select;
    });
    const ranges = data.scores.map((name) => {
      const ends = ["from", "to"].map((end) => {
        const input = make("input");
        Object.assign(input, { type: "number", min: 0, max: 1, step: 0.05, placeholder: end, name: `${name} ${end}` });
        input.setAttribute("aria-label", `${name} ${end}`);
        return input;
      });
      const box = make("span", "range");
      box.append(...ends);
      filters.append(labelled(name, box));
      return [name, ...ends];
    });
    const search = make("input");
    Object.assign(search, { type: "search", name: "words" });
    const clear = make("button", "clear", "Clear");
    clear.type = "button";
    filters.append(labelled("words in the texts", search), clear);

    const order = make("select");
    order.append(new Option("as recorded", ""));
    for (const name of data.scores) {
      order.append(new Option(`${name}, lowest first`, `+${name}`), new Option(`${name}, highest first`, `-${name}`));
    }
    order.name = "order";
    if (data.scores.length) filters.insertBefore(labelled("order", order), clear);

    // The lowest or highest score of the parts that are inside; entries without one come last.
    const sorted = (entries) => {
      if (!order.value) return entries;
      const sign = order.value[0] === "+" ? 1 : -1;
      const name = order.value.slice(1);
      const key = ([, inside]) => Math.min(...[...inside].map((one) => one.scores[name] ?? null).map((score) => (score === null ? Infinity : sign * score)));
      return entries.map((pair) => [key(pair), pair]).sort(([a], [b]) => (a === b ? 0 : a - b)).map(([, pair]) => pair);
    };

    let found = [];
    let shown = 0;
    const show = () => {
      list.append(...found.slice(shown, shown + PAGE).map(([item, inside]) => entry(data.study, item, inside)));
      shown = Math.min(shown + PAGE, found.length);
      more.hidden = shown === found.length;
      more.textContent = `Show more (${shown} of ${found.length} shown)`;
    };
    const filter = () => {
      const wanted = {
        values: Object.fromEntries(selects.filter((one) => one.value).map((one) => [one.name, one.value])),
        ranges: ranges
          .filter(([, low, high]) => low.value || high.value)
          .map(([name, low, high]) => [name, low.value ? Number(low.value) : -Infinity, high.value ? Number(high.value) : Infinity]),
        words: search.value.trim().toLowerCase(),
      };
      found = data.entries
        .map((item) => [item, new Set(item.steps.filter((one) => holds(item, one, wanted)))])
        .filter(([, inside]) => inside.size);
      found = sorted(found);
      const parts = found.reduce((sum, [, inside]) => sum + inside.size, 0);
      const all = `${found.length} of ${data.entries.length} ${data.entries_are}`;
      count.textContent = data.steps_are === data.entries_are ? all : `${parts} ${data.steps_are} in ${all}`;
      shown = 0;
      list.replaceChildren();
      show();
    };
    let waiting = 0;
    filters.addEventListener("input", (event) => {
      clearTimeout(waiting);
      waiting = setTimeout(filter, event.target === search ? 200 : 0);
    });
    clear.addEventListener("click", () => {
      for (const control of filters.querySelectorAll("select, input")) control.value = "";
      filter();
    });
    more.addEventListener("click", show);
    filter();

    // The addresses of an entry, its steps, and their calls.
    const addresses = (item) => [
      address(data.study, item.anchor),
      ...item.steps.map((one) => address(data.study, item.anchor, one.anchor)),
      ...item.steps.flatMap((one) => one.calls.map(([name]) => address(data.study, item.cell, name))),
    ];

    // Open the entry that an address is about, and go to it; tell whether it is of this study.
    return (hash) => {
      const place = data.entries.findIndex((item) => hash.startsWith(address(data.study, item.cell)) && addresses(item).includes(hash));
      if (place < 0) return false;
      const item = data.entries[place];
      if (!found.some(([one]) => one === item)) clear.click();
      const at = found.findIndex(([one]) => one === item);
      while (shown <= at) show();
      const element = list.children[at];
      element.fill();
      element.open = true;
      for (const list of element.querySelectorAll(".calls")) list.fill();
      const target = document.getElementById(hash.slice(1)) ?? element;
      const folded = target.closest(".calls");
      if (folded) folded.open = true;
      target.scrollIntoView();
      return true;
    };
  };

  const openings = [...document.querySelectorAll(".browser")].map(start);
  const follow = () => location.hash.includes("/") && openings.some((open) => open(location.hash));
  window.addEventListener("hashchange", follow);
  follow();
})();
