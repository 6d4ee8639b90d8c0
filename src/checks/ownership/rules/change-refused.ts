import { defineRule } from '../../../findings/rule.ts'
import type { ChangeKind } from '../../../config/permissions.ts'
import { changeKindDescriptions } from '../../../config/permissions.ts'

export const changeForbidden = defineRule<{ path: string; package: string; kinds: readonly ChangeKind[] }>({
  id: 'change-refused',
  check: 'ownership',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'No change is of a kind that this repository refuses',
  format: ({ path, package: name, kinds }) => ({
    what: `${path} makes a change to package ${name} that this repository refuses: ${kinds.join(', ')}`,
    why: kinds.map((kind) => changeKindDescriptions[kind]).join(' '),
    fix: 'Leave that part out. The permissions table in .github/catalog-bot.yml says what is refused to whom.',
  }),
})
