/* Live figures: a slider picks one of the recorded frames, and the groups that
   move are redrawn from it.  Nothing is computed here. */
(() => {
  for (const figure of document.querySelectorAll(".live-figure:not([data-ready])")) {
    const controls = figure.querySelector(".live-controls");
    const inputs = [...controls.querySelectorAll("input")];
    let record; // parsed when it is first needed

    const show = () => {
      record ??= JSON.parse(figure.querySelector(".live-frames").textContent);
      let frame = 0;
      inputs.forEach((input, i) => {
        const { name, values } = record.sliders[i];
        frame = frame * values.length + input.valueAsNumber;
        input.setAttribute("aria-valuetext", `${name} = ${values[input.value]}`);
        input.nextElementSibling.textContent = values[input.value];
      });
      for (const { group, before, after, drawn, which } of record.moving)
        figure.querySelector(`[data-moves="${CSS.escape(group)}"]`).innerHTML =
          before + drawn[which[frame]] + after;
    };

    controls.addEventListener("input", show);
    controls.hidden = false; // without scripts there is no dead slider
    figure.dataset.ready = "";
  }
})();
