import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at, listOf, textOf } from '../fields.ts'

export const brokenIcon = defineRule<{ problem: string }, OfBundle>({
  id: 'broken-icon',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'operatorhub',
  title: 'A bundle has one icon that can be shown',
  say: ({ problem }) => ({
    what: `the icon cannot be shown: ${problem}`,
    why: 'OperatorHub.io refuses the bundle.',
    fix: 'Give one icon with base64data and a mediatype of gif, jpeg, png or svg+xml.',
  }),
  *find({ csv }) {
    const icons = listOf(at(csv.data, 'spec', 'icon'))
    const path = ['spec', 'icon']
    if (icons.length > 1) yield { path, data: { problem: `there are ${icons.length} of them` } }
    for (const icon of icons.slice(0, 1)) {
      const mediaType = textOf(at(icon, 'mediatype'))
      if (mediaType === '' || textOf(at(icon, 'base64data')) === '')
        yield { path, data: { problem: 'it has not both base64data and mediatype' } }
      else if (!/^image\/(?:gif|jpeg|png|svg\+xml)$/.test(mediaType))
        yield { path, data: { problem: `"${mediaType}" is not shown` } }
    }
  },
})
