import { defineRule } from '@catalog-bot/findings/rule'
import { formatOmittedCountSuffix } from '../format-more.ts'

export const workflowEditInHistory = defineRule<{ commit: string; more: number; isVisible: boolean }>({
  id: 'workflow-edit-in-history',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'No commit changes .github/workflows, even temporarily',
  format: ({ commit, more, isVisible }) => ({
    ...(isVisible && { severity: 'warning' as const }),
    what: `the workflow files of commit ${commit.slice(0, 12)}${formatOmittedCountSuffix(more)} differ from those of the base branch`,
    why: 'GitHub does not let catalog-bot push a commit that changes workflows, even if a later commit reverts the change.',
    fix: isVisible
      ? 'Ask a maintainer to merge this pull request manually.'
      : 'Squash the commits so that none of them changes .github/workflows.',
  }),
})
