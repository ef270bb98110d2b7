/* What scrolls is a stop of the keyboard; the theme looks for that when a page
   loads, and cannot see what is still folded away. */
addEventListener("click", ({ target }) => {
  if (!target.closest("summary, .toggle-button")) return;
  setTimeout(() => {
    for (const box of document.querySelectorAll("main pre"))
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  });
});
