import { defineRule } from '@catalog-bot/findings/rule'

export const changesRequested = defineRule<{ reviewer: string }>({
  id: 'changes-requested',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'No owner or maintainer has requested changes',
  format: ({ reviewer }) => ({
    what: `${reviewer}, an owner or maintainer, requested changes`,
    why: 'Requested changes block the merge until the reviewer withdraws them, even after new commits.',
    fix: `Ask ${reviewer} to approve the pull request or to dismiss the review.`,
  }),
})
