import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleTypes } from '../bundle-rule.ts'
import { getField, asList, asString } from '../fields.ts'

export const brokenIcon = defineRule<{ problem: string }, BundleRuleTypes>({
  id: 'broken-icon',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'operatorhub',
  title: 'A bundle has one valid icon',
  format: ({ problem }) => ({
    what: `the icon can't be displayed: ${problem}`,
    why: 'OperatorHub.io rejects the bundle.',
    fix: 'Provide one icon with base64data and a mediatype of image/gif, image/jpeg, image/png or image/svg+xml.',
  }),
  *find({ csv }) {
    const icons = asList(getField(csv.data, 'spec', 'icon'))
    const path = ['spec', 'icon']
    if (icons.length > 1) yield { path, data: { problem: `the bundle has ${icons.length} icons` } }
    for (const icon of icons.slice(0, 1)) {
      const mediaType = asString(getField(icon, 'mediatype'))
      if (mediaType === '' || asString(getField(icon, 'base64data')) === '')
        yield { path, data: { problem: 'base64data or mediatype is missing' } }
      else if (!/^image\/(?:gif|jpeg|png|svg\+xml)$/.test(mediaType))
        yield { path, data: { problem: `the media type "${mediaType}" is not supported` } }
    }
  },
})
