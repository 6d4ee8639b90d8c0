import { defineRule } from '../../findings/rule.ts'
import type { BundleRuleSearch } from '../bundle-rule.ts'
import { getField, asList, asString } from '../fields.ts'

export const brokenIcon = defineRule<{ problem: string }, BundleRuleSearch>({
  id: 'broken-icon',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'operatorhub',
  title: 'A bundle has one icon that can be shown',
  format: ({ problem }) => ({
    what: `the icon cannot be shown: ${problem}`,
    why: 'OperatorHub.io refuses the bundle.',
    fix: 'Give one icon with base64data and a mediatype of gif, jpeg, png or svg+xml.',
  }),
  *find({ csv }) {
    const icons = asList(getField(csv.data, 'spec', 'icon'))
    const path = ['spec', 'icon']
    if (icons.length > 1) yield { path, data: { problem: `there are ${icons.length} of them` } }
    for (const icon of icons.slice(0, 1)) {
      const mediaType = asString(getField(icon, 'mediatype'))
      if (mediaType === '' || asString(getField(icon, 'base64data')) === '')
        yield { path, data: { problem: 'it has not both base64data and mediatype' } }
      else if (!/^image\/(?:gif|jpeg|png|svg\+xml)$/.test(mediaType))
        yield { path, data: { problem: `"${mediaType}" is not shown` } }
    }
  },
})
