import { defineRule } from '@catalog-bot/findings/rule'

export const unknownOpmRelease = defineRule<{ opm: string }>({
  id: 'opm-release-unknown',
  check: 'validation',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'catalog-bot supports the configured opm release',
  format: ({ opm }) => ({
    what: `catalog-bot does not support the rules of opm ${opm}`,
    why: 'The opm release determines which catalogs are valid, so a wrong guess could allow a catalog that clusters reject.',
    fix: 'Ask a maintainer to set `opm` in .github/catalog-bot.yml to v1.28 or later.',
  }),
})
