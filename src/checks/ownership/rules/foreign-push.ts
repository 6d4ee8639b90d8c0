import { defineRule } from '../../../findings/rule.ts'
import { formatNameList } from '../name-list.ts'

export const unconfirmedPush = defineRule<{
  pusher: string
  author: string
  head: string
  unblock: readonly string[]
}>({
  id: 'foreign-push',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'The commits were pushed by their author, or confirmed',
  format: ({ pusher, author, head, unblock }) => ({
    what: `${head.slice(0, 12)} was pushed by ${pusher}, not by ${author}`,
    why: 'Others may be able to push to the branch; the rights of its author do not cover what they push.',
    fix: `A comment "/approve ${head.slice(0, 12)}" by ${formatNameList(unblock)}.`,
  }),
})
