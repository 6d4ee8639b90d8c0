// An icon whose bytes do not match its media type. opm's own check is disabled upstream.
import { defineRule } from '../../../findings/rule.ts'
import { toLocation, type CatalogRuleKind } from '../catalog-rule.ts'

const mediaTypeAliases: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/svg': 'image/svg+xml',
  'image/vnd.microsoft.icon': 'image/x-icon',
}

export const iconMismatch = defineRule<{ claims: string; looksLike: string; bytes: number }, CatalogRuleKind>(
  {
    id: 'icon-mismatch',
    check: 'validation',
    overridable: true,
    judges: 'catalog',
    severity: 'warning',
    since: '0.1.0',
    title: 'Icons are of the media type that they claim',
    format: ({ claims, looksLike, bytes }) => ({
      what: `the icon claims to be ${claims === '' ? 'of no media type' : `"${claims}"`}, and its bytes ${
        bytes === 0 ? 'are missing' : looksLike === '' ? 'are not an image' : `are ${looksLike}`
      }`,
      why: 'Browsers trust the media type that the catalog serves, and then show a broken picture.',
      fix: looksLike.startsWith('image/')
        ? `Set mediatype to ${looksLike}.`
        : 'Put a picture there: SVG (image/svg+xml) or PNG (image/png).',
    }),
    *find({ catalog }) {
      for (const { name, place, icon } of catalog.packages) {
        if (icon === undefined) continue
        const claims = icon.mediatype.toLowerCase().split(';')[0]?.trim() ?? ''
        const looksLike = icon.looksLike ?? ''
        if ((mediaTypeAliases[claims] ?? claims) === looksLike) continue
        yield {
          at: toLocation(place, icon.mark),
          about: [name],
          data: { claims: icon.mediatype, looksLike, bytes: icon.bytes },
        }
      }
    },
  },
)
