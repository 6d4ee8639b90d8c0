// An entry that replaces or skips a newer version. OLM would downgrade installed Operators.
import { defineRule } from '@catalog-bot/findings/rule'
import { compareVersions } from '@catalog-bot/fbc/versions/version'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { findBundleNewerThanHead } from '../view/highest-entry.ts'

export const downgradeEdge = defineRule<
  {
    channel: string
    entry: string
    version: string
    edge: 'replaces' | 'skips'
    target: string
    targetVersion: string
  },
  CatalogRuleSignature
>({
  id: 'downgrade-edge',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Entries replace and skip only older versions',
  format: ({ entry, version, edge, target, targetVersion }) => ({
    what: `${entry} (${version}) ${edge} ${target}, which is newer (${targetVersion})`,
    why: 'OLM moves clusters from the newer version back to the older one, but few Operators support downgrades.',
    fix: `Remove the edge, or make ${target} replace ${entry}.`,
  }),
  *find(catalog) {
    for (const its of catalog.packages) {
      for (const channel of its.channels) {
        const { blob } = channel
        // head-not-highest covers these.
        const highest = findBundleNewerThanHead(its, channel)
        for (const { name, mark, replaces, skips } of blob.entries) {
          const own = its.bundle(name)
          if (own?.version === undefined) continue
          const edges = [['replaces', replaces] as const, ...skips.map((skip) => ['skips', skip] as const)]
          for (const [edge, target] of edges) {
            const other = its.bundle(target)
            if (
              other?.version === undefined ||
              other === highest ||
              compareVersions(other.version, own.version) <= 0
            )
              continue
            yield {
              at: toFindingLocation(blob.place, mark),
              about: [its.name, blob.name, name, target],
              data: {
                channel: blob.name,
                entry: name,
                version: own.versionText,
                edge,
                target,
                targetVersion: other.versionText,
              },
            }
          }
        }
      }
    }
  },
})
