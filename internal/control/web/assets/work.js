// Lists that are narrowed, and logs. Everything can be read without this file.
"use strict";

(() => {
  const secondForm = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });

  function refreshSeconds() {
    for (const t of document.querySelectorAll("time[data-second]")) {
      const text = secondForm.format(new Date(t.dateTime));
      if (t.textContent !== text) t.textContent = text;
    }
  }

  // A log is read from its end, unless a person has scrolled back in it.
  function logsToEnd() {
    for (const pre of document.querySelectorAll(".run-log pre")) if (!pre.away) pre.scrollTop = pre.scrollHeight;
  }

  document.addEventListener("scroll", (event) => {
    const pre = event.target;
    if (pre instanceof Element && pre.matches(".run-log pre")) pre.away = pre.scrollHeight - pre.scrollTop - pre.clientHeight > 40;
  }, true);

  // A list to choose from needs no button where scripts run.
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-auto]");
    if (form) form.submit();
  });

  document.addEventListener("stopgate:drawn", () => { refreshSeconds(); logsToEnd(); });
  refreshSeconds();
  logsToEnd();
})();
