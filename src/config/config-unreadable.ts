import { defineRule } from '../findings/rule.ts'

export const configUnreadable = defineRule<{
  readonly problem: string
  /** What to do, where it is something else than to correct a line. */
  readonly fix?: string
}>({
  id: 'config-unreadable',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'The configuration at the base branch can be read, whole and without unknown keys',
  format: ({ problem, fix }) => ({
    what: `the configuration of this repository cannot be read: ${problem}`,
    why: 'Rules that are not understood protect nothing, so nothing is merged until they are.',
    fix:
      fix ??
      'A maintainer corrects .github/catalog-bot.yml on the base branch; docs/configuration.md lists every key.',
  }),
})
