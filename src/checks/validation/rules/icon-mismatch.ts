// An icon whose bytes do not match its media type. opm's own check is disabled upstream.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'

const canonicalMediaTypeByAlias: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/svg': 'image/svg+xml',
  'image/vnd.microsoft.icon': 'image/x-icon',
}

export const iconMismatch = defineRule<
  { claims: string; looksLike: string; bytes: number },
  CatalogRuleSignature
>({
  id: 'icon-mismatch',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Icons match their declared media type',
  format: ({ claims, looksLike, bytes }) => ({
    what: `the icon declares ${claims === '' ? 'no media type' : `the media type "${claims}"`}, but its data is ${
      bytes === 0 ? 'missing' : looksLike === '' ? 'not an image' : looksLike
    }`,
    why: 'Browsers trust the media type that the catalog serves, so they show a broken image.',
    fix: looksLike.startsWith('image/')
      ? `Set mediatype to ${looksLike}.`
      : 'Replace the icon with an SVG (image/svg+xml) or PNG (image/png) image.',
  }),
  *find({ catalog }) {
    for (const { name, place, icon } of catalog.packages) {
      if (icon === undefined) continue
      const claims = icon.mediatype.toLowerCase().split(';')[0]?.trim() ?? ''
      const looksLike = icon.looksLike ?? ''
      if ((canonicalMediaTypeByAlias[claims] ?? claims) === looksLike) continue
      yield {
        at: toFindingLocation(place, icon.mark),
        about: [name],
        data: { claims: icon.mediatype, looksLike, bytes: icon.bytes },
      }
    }
  },
})
