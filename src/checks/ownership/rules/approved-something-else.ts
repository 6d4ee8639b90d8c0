import { defineRule } from '@catalog-bot/findings/rule'

const maxShownDifferences = 5

export const approvalForOtherChange = defineRule<{
  approver: string
  head: string
  differences: readonly string[]
}>({
  id: 'approved-something-else',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'An approval covers what the commit does now',
  format: ({ approver, head, differences }) => ({
    what: `the approval of ${head.slice(0, 12)} by ${approver} no longer applies because the effect changed: ${formatCoverageDifferences(differences)}`,
    why: 'After the base branch changes, the same commit can have a different effect, which no one has approved.',
    fix: `Ask ${approver} to approve this commit again in a review or by commenting \`/approve ${head.slice(0, 12)}\`.`,
  }),
})

function formatCoverageDifferences(differences: readonly string[]): string {
  const more =
    differences.length > maxShownDifferences ? `; and ${differences.length - maxShownDifferences} more` : ''
  return differences.slice(0, maxShownDifferences).join('; ') + more
}
