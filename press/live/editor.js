// The editor of a cell: CodeMirror, with what Python needs and no more.
// `make live` bundles this file with it.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting, HighlightStyle }
  from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";

// The page's own colours, which follow light and dark.
const colours = HighlightStyle.define([
  { tag: tags.keyword, class: "k" },
  { tag: [tags.string, tags.special(tags.string)], class: "s2" },
  { tag: tags.comment, class: "c1" },
  { tag: tags.number, class: "mi" },
  { tag: [tags.operator, tags.compareOperator, tags.arithmeticOperator], class: "o" },
  { tag: [tags.bool, tags.null], class: "kc" },
]);

/** An editor in `parent`; Shift-Enter runs, Escape leaves: Tab moves on again. */
export function edit(parent, text, label, { run, leave, changed }) {
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        history(), indentOnInput(), bracketMatching(), indentUnit.of("    "),
        python(), syntaxHighlighting(colours), EditorView.lineWrapping,
        EditorView.updateListener.of((update) => { if (update.docChanged) changed(); }),
        EditorView.contentAttributes.of({ "aria-label": label }),
        keymap.of([
          { key: "Shift-Enter", run: () => (run(), true) },
          { key: "Escape", run: () => (leave(), true) },
          indentWithTab, ...defaultKeymap, ...historyKeymap,
        ]),
      ],
    }),
  });
}
