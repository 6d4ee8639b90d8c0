import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at, listOf, textOf } from '../fields.ts'

export const incompleteLink = defineRule<{ name: string; url: string }, OfBundle>({
  id: 'incomplete-link',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'operatorhub',
  title: 'Links have a name and an address',
  say: ({ name, url }) => ({
    what: `the link "${name}" to "${url}" is incomplete: a name and an absolute URL are wanted`,
    why: 'OperatorHub.io refuses the bundle.',
    fix: 'Write name and url.',
  }),
  *find({ csv }) {
    for (const [index, entry] of listOf(at(csv.data, 'spec', 'links')).entries()) {
      const [name, url] = [textOf(at(entry, 'name')), textOf(at(entry, 'url'))]
      // A path counts, as for Go's ParseRequestURI.
      if (name === '' || !/^(?:[a-z][a-z0-9+.-]*:\S+|\/\S*)$/i.test(url))
        yield { path: ['spec', 'links', index], data: { name, url } }
    }
  },
})
