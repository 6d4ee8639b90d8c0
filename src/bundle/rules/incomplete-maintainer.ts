import { defineRule } from '../../findings/rule.ts'
import type { BundleRuleSearch } from '../bundle-rule.ts'
import { getField, asList, asString } from '../fields.ts'

export const incompleteMaintainer = defineRule<{ name: string; email: string }, BundleRuleSearch>({
  id: 'incomplete-maintainer',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'operatorhub',
  title: 'Maintainers have a name and an address',
  format: ({ name, email }) => ({
    what: `a maintainer is "${name}" <${email}>: both a name and an e-mail address are wanted`,
    why: 'OperatorHub.io refuses the bundle, and nobody can ask.',
    fix: 'Write name and email.',
  }),
  *find({ csv }) {
    for (const [index, entry] of asList(getField(csv.data, 'spec', 'maintainers')).entries()) {
      const [name, email] = [asString(getField(entry, 'name')), asString(getField(entry, 'email'))]
      if (name === '' || !/^(?:[^<>@]*<)?[^\s<>@]+@[^\s<>@]+>?$/.test(email))
        yield { path: ['spec', 'maintainers', index], data: { name, email } }
    }
  },
})
