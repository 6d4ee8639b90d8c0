// Text after a document's root value: opm's reader drops it silently.
import { defineRule } from '../../../findings/rule.ts'
import type { CatalogRuleKind } from '../catalog-rule.ts'
import { toLeniencyHit, listLeniencies } from '../view/leniencies.ts'

export const droppedText = defineRule<{ text: string }, CatalogRuleKind>({
  id: 'dropped-text',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'Every line of a file is read',
  format: ({ text }) => ({
    what: `everything from here to the end of the document is dropped: ${excerpt(text)}`,
    why: 'opm reads one value from each document and ignores what follows it, so this part is not in the catalog.',
    fix: 'Put "---" on a line of its own before it, indent it like what stands above, or remove it.',
  }),
  *find(catalog) {
    for (const leniency of listLeniencies(catalog, 'dropped-text')) {
      // The rule concatenated-json covers these.
      if (leniency.text.trimStart().startsWith('{')) continue
      yield { ...toLeniencyHit(leniency, leniency.text), data: { text: leniency.text } }
    }
  },
})

function excerpt(text: string): string {
  const line = text.trim().split('\n')[0] ?? ''
  return JSON.stringify(line.length > 60 ? `${line.slice(0, 60)}...` : line)
}
