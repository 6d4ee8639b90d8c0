import { defineRule } from '../../../findings/rule.ts'
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
  title: 'Changes that reach beyond the author are agreed to by a second person',
  format: ({ path, package: name, kinds, by, unblock }) => ({
    what: `${path} makes a change to package ${name} that needs ${
      by === 'owner' ? 'another owner or a maintainer' : 'a maintainer'
    }: ${kinds.join(', ')}`,
    why: kinds.map((kind) => changeKindDescriptions[kind]).join(' '),
    fix: `An approving review of this commit, or /approve, by ${formatNameList(unblock)}; or leave that part out.`,
  }),
})
