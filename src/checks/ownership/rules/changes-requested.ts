import type { Rule } from '../../../findings/rule.ts'

export const changesRequested: Rule<{ reviewer: string }> = {
  id: 'changes-requested',
  check: 'ownership',
  severity: 'warning',
  title: 'No owner or maintainer has requested changes',
  say: ({ reviewer }) => ({
    what: `${reviewer}, who has a say here, requested changes`,
    why: 'The objection of somebody with rights stands until they withdraw it, also across pushes.',
    fix: `${reviewer} approves, or the review is dismissed.`,
  }),
}
