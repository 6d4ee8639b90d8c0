// Text after a document's root value. opm silently drops it.
import { defineRule } from '@catalog-bot/findings/rule'
import type { CatalogRuleSignature } from '../catalog-rule.ts'
import { toParserLeniencyRuleHit, listParserLeniencies } from '../view/leniencies.ts'

export const droppedText = defineRule<{ text: string }, CatalogRuleSignature>({
  id: 'dropped-text',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'opm reads every line of a file',
  format: ({ text }) => ({
    what: `opm drops everything from here to the end of the document: ${quoteTruncatedFirstLine(text)}`,
    why: 'opm reads one value from each document and ignores the rest, so this part is missing from the catalog.',
    fix: 'Put "---" on a separate line before this part, indent this part like the lines above it, or remove this part.',
  }),
  *find(catalog) {
    for (const leniency of listParserLeniencies(catalog, 'dropped-text')) {
      // The rule concatenated-json covers these.
      if (leniency.text.trimStart().startsWith('{')) continue
      yield { ...toParserLeniencyRuleHit(leniency, leniency.text), data: { text: leniency.text } }
    }
  },
})

function quoteTruncatedFirstLine(text: string): string {
  const line = text.trim().split('\n')[0] ?? ''
  return JSON.stringify(line.length > 60 ? `${line.slice(0, 60)}...` : line)
}
