import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asListOrEmpty, asStringOrEmpty } from '../fields.ts'

export const incompleteMaintainer = defineRule<{ name: string; email: string }, BundleRuleSignature>({
  id: 'incomplete-maintainer',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'operatorhub',
  title: 'Maintainers have a name and an email address',
  format: ({ name, email }) => ({
    what: `the maintainer "${name}" <${email}> needs a name and a valid email address`,
    why: "OperatorHub.io rejects the bundle, and users don't know whom to contact.",
    fix: 'Set name and email.',
  }),
  *find({ csv }) {
    for (const [index, entry] of asListOrEmpty(
      getJsonFieldAtPath(csv.data, 'spec', 'maintainers'),
    ).entries()) {
      const [name, email] = [
        asStringOrEmpty(getJsonFieldAtPath(entry, 'name')),
        asStringOrEmpty(getJsonFieldAtPath(entry, 'email')),
      ]
      if (name === '' || !/^(?:[^<>@]*<)?[^\s<>@]+@[^\s<>@]+>?$/.test(email))
        yield { path: ['spec', 'maintainers', index], data: { name, email } }
    }
  },
})
