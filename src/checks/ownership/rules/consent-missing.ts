import { defineRule } from '@catalog-bot/findings/rule'
import type { ChangeKind } from '../../../config/permissions.ts'
import { changeKindDescriptions } from '../../../config/permissions.ts'
import { formatNameList } from '../name-list.ts'

export const approvalMissing = defineRule<{
  path: string
  package: string
  kinds: readonly ChangeKind[]
  by: 'owner' | 'maintainer'
  unblock: readonly string[]
}>({
  id: 'consent-missing',
  check: 'ownership',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'Changes that require a second approval have one',
  format: ({ path, package: name, kinds, by, unblock }) => ({
    what: `${path} makes a change to package ${name} that needs approval by ${
      by === 'owner' ? 'another owner or a maintainer' : 'a maintainer'
    }: ${kinds.join(', ')}`,
    why: kinds.map((kind) => changeKindDescriptions[kind]).join(' '),
    fix: `Ask ${formatNameList(unblock)} to approve this commit in a review or by commenting \`/approve\`, or remove that part of the change.`,
  }),
})
