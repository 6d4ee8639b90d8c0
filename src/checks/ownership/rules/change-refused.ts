import { defineRule } from '@catalog-bot/findings/rule'
import type { ChangeKind } from '../../../config/permissions.ts'
import { changeKindDescriptions } from '../../../config/permissions.ts'

export const changeForbidden = defineRule<{ path: string; package: string; kinds: readonly ChangeKind[] }>({
  id: 'change-refused',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'Every change is of a kind that this repository allows',
  format: ({ path, package: name, kinds }) => ({
    what: `${path} makes a change to package ${name} that this repository does not allow: ${kinds.join(', ')}`,
    why: kinds.map((kind) => changeKindDescriptions[kind]).join(' '),
    fix: 'Remove that part of the change. The permissions table in .github/catalog-bot.yml lists what each role can change.',
  }),
})
