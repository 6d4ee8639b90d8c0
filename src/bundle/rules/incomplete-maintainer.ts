import { bundleRule } from '../bundle-rule.ts'
import { at, listOf, textOf } from '../fields.ts'

export const incompleteMaintainer = bundleRule<{ name: string; email: string }>({
  id: 'incomplete-maintainer',
  suite: 'operatorhub',
  severity: 'warning',
  title: 'Maintainers have a name and an address',
  say: ({ name, email }) => ({
    what: `a maintainer is "${name}" <${email}>: both a name and an e-mail address are wanted`,
    why: 'OperatorHub.io refuses the bundle, and nobody can ask.',
    fix: 'Write name and email.',
  }),
  *find({ csv }) {
    for (const [index, entry] of listOf(at(csv.data, 'spec', 'maintainers')).entries()) {
      const [name, email] = [textOf(at(entry, 'name')), textOf(at(entry, 'email'))]
      if (name === '' || !/^(?:[^<>@]*<)?[^\s<>@]+@[^\s<>@]+>?$/.test(email))
        yield { path: ['spec', 'maintainers', index], data: { name, email } }
    }
  },
})
