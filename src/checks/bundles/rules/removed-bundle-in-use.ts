import { defineRule } from '@catalog-bot/findings/rule'
import { formatTruncatedNames } from '../../validation/format-names.ts'

export const removedBundleInUse = defineRule<{ name: string; by: readonly string[] }>({
  id: 'removed-bundle-in-use',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle is removed only when it is no longer referenced',
  format: ({ name, by }) => ({
    what: `${name} is removed but still referenced by ${formatTruncatedNames(by, 3)}`,
    why: "The files that reference it break or can't be rebuilt.",
    fix: 'Remove these references first, in an earlier pull request.',
  }),
})
