import { defineRule } from '../../../findings/rule.ts'
import { formatMoreSuffix } from '../format-more.ts'

export const workflowEditInHistory = defineRule<{ commit: string; more: number; isVisible: boolean }>({
  id: 'workflow-edit-in-history',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'No commit edits .github/workflows, not even on the way',
  format: ({ commit, more, isVisible }) => ({
    ...(isVisible && { severity: 'warning' as const }),
    what: `the workflow files of commit ${commit.slice(0, 12)}${formatMoreSuffix(more)} are not those of the base branch below`,
    why: 'GitHub lets the bot push no commit that touches workflows, also where a later commit takes it back.',
    fix: isVisible
      ? 'Ask a maintainer to merge this pull request by hand.'
      : 'Squash the commits, so that none of them touches .github/workflows.',
  }),
})
