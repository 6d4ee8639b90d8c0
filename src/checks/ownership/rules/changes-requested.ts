import { defineRule } from '../../../findings/rule.ts'

export const changesRequested = defineRule<{ reviewer: string }>({
  id: 'changes-requested',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'No owner or maintainer has requested changes',
  format: ({ reviewer }) => ({
    what: `${reviewer}, who has a say here, requested changes`,
    why: 'The objection of somebody with rights stands until they withdraw it, also across pushes.',
    fix: `${reviewer} approves, or the review is dismissed.`,
  }),
})
