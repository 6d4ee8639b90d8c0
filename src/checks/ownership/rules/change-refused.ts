import type { ChangeKind } from '../../../config/permissions.ts'
import { changeKinds } from '../../../config/permissions.ts'
import type { Rule } from '../../../findings/rule.ts'

export const changeRefused: Rule<{ path: string; package: string; kinds: readonly ChangeKind[] }> = {
  id: 'change-refused',
  check: 'ownership',
  severity: 'error',
  title: 'No change is of a kind that this repository refuses',
  say: ({ path, package: name, kinds }) => ({
    what: `${path} makes a change to package ${name} that this repository refuses: ${kinds.join(', ')}`,
    why: kinds.map((kind) => changeKinds[kind]).join(' '),
    fix: 'Leave that part out. The permissions table in .github/catalog-bot.yml says what is refused to whom.',
  }),
}
