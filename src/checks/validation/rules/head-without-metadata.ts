// A channel head that tells nothing of itself. It installs, and no console can show it (operator-registry #907).
import { catalogRule, placeOf } from '../catalog-rule.ts'

export const headWithoutMetadata = catalogRule<{ bundle: string; channels: readonly string[] }>({
  id: 'head-without-metadata',
  severity: 'warning',
  since: '0.1.0',
  title: 'Channel heads carry the metadata of their ClusterServiceVersion',
  say: ({ bundle, channels }) => ({
    what: `${bundle}, the head of ${channels.map((name) => `"${name}"`).join(', ')}, has neither olm.csv.metadata nor olm.bundle.object`,
    why: 'Display name, description, install modes and the list of packages in a console come from the head: without them it cannot be found there.',
    fix: 'Render the bundle again from its image.',
  }),
  *find(catalog) {
    for (const its of catalog.packages) {
      const channelsOf = new Map<string, string[]>()
      for (const { blob, head } of its.channels) {
        if (head === undefined) continue
        const channels = channelsOf.get(head.name)
        if (channels) channels.push(blob.name)
        else channelsOf.set(head.name, [blob.name])
      }
      for (const [name, channels] of channelsOf) {
        const bundle = its.bundle(name)
        if (bundle === undefined) continue
        if (bundle.properties('olm.csv.metadata').length + bundle.properties('olm.bundle.object').length > 0)
          continue
        yield { at: placeOf(bundle.blob.place), about: [its.name, name], data: { bundle: name, channels } }
      }
    }
  },
})
