// What code needs to know about the configuration without loading its schema, as change-kinds.ts does.
import { defineRule } from '@catalog-bot/findings/rule'

/** In a repository. */
export const configPath = '.github/catalog-bot.yml'

export const configUnreadableRule = defineRule<{
  readonly problem: string
  /** The fix, if it is something other than correcting a line. */
  readonly fix?: string
}>({
  id: 'config-unreadable',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'The configuration on the base branch is valid and has no unknown keys',
  what: ({ problem }) => `the configuration of this repository is invalid: ${problem}`,
  why: 'An invalid configuration can’t protect the repository, so catalog-bot does not merge anything until it is fixed.',
  fix: ({ fix }) =>
    fix ??
    'Ask a maintainer to fix .github/catalog-bot.yml on the base branch. docs/reference/configuration.md lists every key.',
})
