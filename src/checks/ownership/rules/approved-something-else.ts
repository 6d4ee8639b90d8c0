import { defineRule } from '../../../findings/rule.ts'

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
  title: 'An approval is for what the commit does now',
  format: ({ approver, head, differences }) => ({
    what: `${approver} approved ${head.slice(0, 12)} for something else: ${formatDifferences(differences)}`,
    why: 'The same commit can do something else when the base branch moves, and nobody has agreed to that.',
    fix: `A new approving review, or a comment "/approve ${head.slice(0, 12)}", by ${approver}.`,
  }),
})

function formatDifferences(differences: readonly string[]): string {
  const more =
    differences.length > maxShownDifferences ? `; and ${differences.length - maxShownDifferences} more` : ''
  return differences.slice(0, maxShownDifferences).join('; ') + more
}
