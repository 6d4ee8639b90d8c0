import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asListOrEmpty, asStringOrEmpty } from '../fields.ts'

export const brokenIcon = defineRule<{ problem: string }, BundleRuleSignature>({
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
    const icons = asListOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'icon'))
    const path = ['spec', 'icon']
    if (icons.length > 1) yield { path, data: { problem: `the bundle has ${icons.length} icons` } }
    for (const icon of icons.slice(0, 1)) {
      const mediaType = asStringOrEmpty(getJsonFieldAtPath(icon, 'mediatype'))
      if (mediaType === '' || asStringOrEmpty(getJsonFieldAtPath(icon, 'base64data')) === '')
        yield { path, data: { problem: 'base64data or mediatype is missing' } }
      else if (!/^image\/(?:gif|jpeg|png|svg\+xml)$/.test(mediaType))
        yield { path, data: { problem: `the media type "${mediaType}" is not supported` } }
    }
  },
})
