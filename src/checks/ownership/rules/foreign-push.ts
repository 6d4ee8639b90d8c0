import { defineRule } from '@catalog-bot/findings/rule'
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
  title: 'The author pushed the commits, or an authorized person confirmed them',
  format: ({ pusher, author, head, unblock }) => ({
    what: `${head.slice(0, 12)} was pushed by ${pusher}, not by ${author}`,
    why: "Other people might be able to push to this branch, and the author's permissions do not cover their commits.",
    fix: `Ask ${formatNameList(unblock)} to comment \`/approve ${head.slice(0, 12)}\`.`,
  }),
})
