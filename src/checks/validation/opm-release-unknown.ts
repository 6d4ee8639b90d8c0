import { defineRule } from '../../findings/rule.ts'

export const unknownOpmRelease = defineRule<{ opm: string }>({
  id: 'opm-release-unknown',
  check: 'validation',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'The configured opm release is one whose rules are known',
  format: ({ opm }) => ({
    what: `the rules of opm ${opm} are not known`,
    why: 'Which catalogs are valid depends on the release; guessing could let one through that its clusters refuse.',
    fix: 'A maintainer sets `opm` in .github/catalog-bot.yml to v1.28 or later.',
  }),
})
