// An edge to a name that the package does not have. This is legal, because a channel can end at a removed version, but
// a typo looks the same.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { findSimilarName } from '../similar-name.ts'
import { formatTruncatedNames } from '../format-names.ts'

export const edgeToNowhere = defineRule<
  {
    channel: string
    entry: string
    edge: 'replaces' | 'skips'
    targets: readonly string[]
    near: string
  },
  CatalogRuleSignature
>({
  id: 'edge-to-nowhere',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'info',
  since: '0.1.0',
  title: 'Edges point to bundles in the package',
  format: ({ entry, edge, targets, near }) => ({
    what: `${entry} ${edge} ${formatTruncatedNames(targets)}, but the package has no such bundle${targets.length > 1 ? 's' : ''}`,
    why: 'The edge helps only clusters that still run a removed bundle. If the name is misspelled, the edge has no effect.',
    fix:
      near === ''
        ? `Check the spelling of the name${targets.length > 1 ? 's' : ''}.`
        : `Did you mean ${near}?`,
  }),
  *find(catalog) {
    let guesses = maxBundleNameCandidates
    for (const its of catalog.packages) {
      const names = its.bundles.map(({ blob }) => blob.name)
      for (const { blob } of its.channels) {
        for (const { name, mark, replaces, skips } of blob.entries) {
          const isMissing = (target: string) => target !== '' && its.bundle(target) === undefined
          const groups = [
            ['replaces', [replaces].filter(isMissing)],
            ['skips', skips.filter(isMissing)],
          ] as const
          for (const [edge, targets] of groups) {
            const [first] = targets
            if (first === undefined) continue
            yield {
              at: toFindingLocation(blob.place, mark),
              about: [its.name, blob.name, name, edge],
              data: {
                channel: blob.name,
                entry: name,
                edge,
                targets,
                near: guesses-- > 0 ? findSimilarSameVersionBundleName(first, names) : '',
              },
            }
          }
        }
      }
    }
  },
})

/** Each guess compares with every bundle of the package. */
const maxBundleNameCandidates = 100

/** A similar name of the same version: neighbors of `foo.v1.0.1` are other releases, not typos. */
function findSimilarSameVersionBundleName(target: string, names: readonly string[]): string {
  const digits = target.replaceAll(/\D/g, '')
  return (
    findSimilarName(
      target,
      names.filter((name) => name.replaceAll(/\D/g, '') === digits),
    ) ?? ''
  )
}
